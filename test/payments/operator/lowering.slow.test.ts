/** Lowering the number of witnesses for a time: what goes on, what waits all the same, and how it ends. */
import { afterEach, describe, expect, test } from "vitest";
import { agreed } from "../../../src/ledger/agreed.ts";
import { LedgerUnavailable } from "../../../src/ledger/ledger.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { AttentionChange } from "../../../src/payments/operator/attention/matter-report-loop.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { gone, oddEndpoint, type OddEndpoint, dropping } from "../../kit/odd-endpoints.ts";
import { privateFixture, type PrivateFixture } from "../../kit/private-fixture.ts";
import { BY } from "../../kit/by.ts";

interface Scene extends PrivateFixture {
  readonly one: OddEndpoint;
  readonly two: OddEndpoint;
  readonly account: Caller;
  readonly alice: Wallet;
  readonly bob: Wallet;
  readonly news: AttentionChange[];
  pay(): Promise<string>;
  statusOf(id: string): Promise<unknown>;
}

const MINUTE_MS = 60_000;

const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

async function scene(): Promise<Scene> {
  const odd: OddEndpoint[] = [];
  const news: AttentionChange[] = [];
  const onAttention = (each: AttentionChange): void => void news.push(each);
  const fixture = await privateFixture({ onAttention }, {}, ({ chain, ledgerOf }) => {
    odd.push(oddEndpoint(chain, "one"), oddEndpoint(chain, "two"));
    return ledgerOf(odd.map(({ option }) => option));
  });
  ended.push(() => fixture.close());
  const [one, two] = odd;
  if (one === undefined || two === undefined) throw new Error("there are two endpoints");
  const account = await fixture.caller();
  const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  const bob = fixture.wallet("bob", { lamports: 1_000_000n, usdc: 1n });
  return {
    ...fixture,
    one,
    two,
    account,
    alice,
    bob,
    news,
    async pay() {
      const { transactionId } = await fixture.send(account, { from: alice, to: bob.address, amount: "1" });
      await fixture.service.settled();
      return transactionId;
    },
    statusOf: async (id) => (await fixture.service.transaction(account, id)).status,
  };
}

/** A few looks at everything, and what could not be had is asked for again. */
async function look({ service, pass }: Scene): Promise<void> {
  for (let time = 0; time < 3; time += 1) {
    await pass(8_000);
    await service.settled();
  }
}

describe("while one of two endpoints is gone", () => {
  test("R26: what is final is believed on the word of the other for the time given, and no longer", async () => {
    const world = await scene();
    const { service, chain, two, news } = world;
    const first = await world.pay();
    two.rule = gone;
    chain.advance(40);
    await look(world);
    expect(await world.statusOf(first)).toBe("pending");

    const entry = await service.operator.lowerWitnesses({ witnesses: 1, minutes: 10 }, BY);
    expect(entry).toMatchObject({ ...BY, witnesses: 1 });
    expect(Date.parse(entry.until) - Date.parse(entry.since)).toBe(10 * MINUTE_MS);
    await look(world);
    expect(await world.statusOf(first)).toBe("completed");
    expect(await service.health()).toMatchObject({
      status: "degraded",
      witnesses: { needed: 1, answering: 1, loweredUntil: entry.until },
    });
    expect(await service.operator.attention()).toMatchObject([
      {
        kind: "lowered_witnesses",
        since: entry.since,
        message: expect.stringContaining(`until ${entry.until} one endpoint alone decides`) as string,
        actions: [],
      },
    ]);
    expect(await service.operator.auditLog()).toMatchObject([
      { act: "lower_witnesses", what: { witnesses: 1, minutes: 10 }, ...BY },
    ]);
    await world.pass(MINUTE_MS);
    expect(news.map(({ state, matter }) => [state, matter.kind])).toEqual([["waiting", "lowered_witnesses"]]);

    const late = await world.pay();
    await world.pass(10 * MINUTE_MS);
    chain.advance(40);
    await look(world);
    expect(await world.statusOf(late)).toBe("pending");
    expect(await service.health()).toMatchObject({ witnesses: { needed: 2, answering: 1 } });
    expect((await service.health()).witnesses).not.toHaveProperty("loweredUntil");
    expect(await service.operator.attention()).toEqual([]);
    expect(news.map(({ state }) => state)).toEqual(["waiting", "over"]);
    await expect(service.operator.restoreWitnesses(BY)).rejects.toThrow("witnesses is not lowered");
  });

  test("every process on the database believes it, also one that starts later, and hears of an early end", async () => {
    const world = await scene();
    const { service, chain, two, one } = world;
    const first = await world.pay();
    two.rule = gone;
    chain.advance(40);
    await service.operator.lowerWitnesses({ witnesses: 1, minutes: 60 }, BY);
    await service.stop();
    const other = world.another({ ledger: world.ledgerOf([one.option, two.option]) });
    ended.unshift(() => other.stop());
    await other.start();
    await look({ ...world, service: other });
    expect(await world.statusOf(first)).toBe("completed");

    await service.operator.restoreWitnesses({ actor: "bea", reason: "too long" });
    await world.pass(5_000);
    expect(await other.health()).toMatchObject({ witnesses: { needed: 2, answering: 1 } });
    await expect(service.operator.restoreWitnesses(BY)).rejects.toThrow(
      "the number of witnesses is not lowered",
    );
    expect((await service.operator.auditLog()).map(({ act, actor }) => [act, actor])).toEqual([
      ["lower_witnesses", "ann"],
      ["restore_witnesses", "bea"],
    ]);
  });

  test("W9: a transaction past its last block does not fail before the other is back", async () => {
    const world = await scene();
    const { service, chain, one, two } = world;
    [one.rule, two.rule] = [dropping, dropping];
    const id = await world.pay();
    two.rule = gone;
    await service.operator.lowerWitnesses({ witnesses: 1, minutes: 60 }, BY);
    chain.advance(250);
    await look(world);
    expect(await world.statusOf(id)).toBe("pending");
    two.rule = undefined;
    await look(world);
    expect(await world.statusOf(id)).toBe("failed");
  });

  // modules: private
  test("P1: a private order is paid and its address emptied; the books wait until the other is back", async () => {
    const world = await scene();
    const { service, chain, two, bob } = world;
    const to = [{ address: bob.address, amount: "5" }];
    const { body, quote } = await world.order(world.account, { sender: world.alice, to });
    two.rule = gone;
    await service.operator.lowerWitnesses({ witnesses: 1, minutes: 24 * 60 }, BY);
    chain.fund(body.ephemeralAddress, { usdc: 5_000_000n + BigInt(Math.round(Number(quote.fee) * 1e6)) });
    for (let round = 0; round < 12; round += 1) {
      chain.advance(35);
      await look(world);
    }
    expect(await world.statusOf(body.transactionId)).toBe("completed");
    expect((await world.held(bob.address))[1]).toBe(5_000_001n);
    await expect(service.reconcile()).rejects.toThrow(LedgerUnavailable);
    two.rule = undefined;
    expect(await world.held(body.ephemeralAddress)).toEqual([0n, 0n, 0n]);
    expect(await service.reconcile()).toMatchObject({ isExplained: true, findings: [] });
  });
});

describe("refused, and nothing is changed", () => {
  test("R25: what is needless, too low, too long, or nobody's", async () => {
    const world = await scene();
    const { operator } = world.service;
    const refused = async (wanted: unknown, by: unknown, words: string): Promise<void> => {
      const [given, who] = [wanted as { witnesses: number; minutes: number }, by as typeof BY];
      await expect(operator.lowerWitnesses(given, who)).rejects.toThrow(words);
    };
    await refused(
      { witnesses: 1, minutes: 5 },
      BY,
      "enough endpoints answer (2), so there is nothing to lower",
    );
    world.two.rule = gone;
    await refused({ witnesses: 0, minutes: 5 }, BY, "witnesses: ");
    await refused({ witnesses: 2, minutes: 5 }, BY, "witnesses: expected 1, not 2: 1 of 2 endpoints answer");
    await refused({ witnesses: 1, minutes: 0 }, BY, "minutes: ");
    await refused({ witnesses: 1, minutes: 1_441 }, BY, "minutes: ");
    await refused({ witnesses: 1 }, BY, "minutes: ");
    const witnesses = async () => agreed({ needed: 3, answering: 2 });
    const ofThree = { ...world.ledger, restricted: async () => ({ ...world.ledger, witnesses }) };
    await expect(
      world.another({ ledger: ofThree }).operator.lowerWitnesses({ witnesses: 1, minutes: 5 }, BY),
    ).rejects.toThrow("witnesses: expected 2, not 1: 2 of 3 endpoints answer");
    await refused({ witnesses: 1, minutes: 5 }, { actor: "ann" }, "reason: ");
    world.one.rule = gone;
    await refused({ witnesses: 1, minutes: 5 }, BY, "no endpoint answers");
    await expect(operator.restoreWitnesses(BY)).rejects.toThrow("the number of witnesses is not lowered");
    [world.one.rule, world.two.rule] = [undefined, undefined];
    expect(await operator.auditLog()).toEqual([]);
    expect((await world.service.health()).witnesses).toEqual({ needed: 2, answering: 2 });
  });
});
