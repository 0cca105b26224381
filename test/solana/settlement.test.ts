/** Sending, watching and burying: what may be concluded from what nodes say. */
import { fatesOf } from "../kit/fates.ts";
import { describe, expect } from "vitest";
import {
  type Attempt,
  type DeclaredPayment,
  type Ledger,
  type VerifiedPayment,
  LedgerUnavailable,
} from "../../src/ledger/ledger.ts";
import { signPayment, type ChainFixture, type Wallet } from "../kit/chain-fixture.ts";
import { chainTest } from "../kit/chain-test.ts";
import { gone, lyingAbout, oddEndpoint } from "../kit/odd-endpoints.ts";

/** Alice pays somebody. */
interface Paying extends ChainFixture {
  readonly alice: Wallet;
  readonly payment: DeclaredPayment;
}

const test = chainTest.extend("world", async ({ world }): Promise<Paying> => {
  const alice = world.wallet("alice", { lamports: 1_000_000_000n });
  const bob = world.wallet("bob", { lamports: 1_000_000_000n });
  const transfers = [{ recipient: bob.address, amount: 1_000n }];
  return { ...world, alice, payment: { sender: alice.address, mint: null, decimals: 9, transfers } };
});

/** A payment as it is when its first byte may leave, with the true last valid height. */
async function ready(world: Paying, amount = 1_000n): Promise<VerifiedPayment & Attempt> {
  const { payment, alice } = world;
  const declared = { ...payment, transfers: payment.transfers.map((each) => ({ ...each, amount })) };
  const { bytes, lastValidBlockHeight } = await world.ledger.buildPayment(declared, new Uint8Array(32));
  const answer = await world.ledger.verifyPayment(signPayment(bytes, alice.secretKey), declared);
  if ("refused" in answer) throw new Error(answer.refused);
  return { ...answer.verified, lastValidBlockHeight, reference: null };
}

interface Answer {
  readonly context: object;
  readonly value: readonly unknown[];
}

/** A node that changes what it answers to one method. */
const node = (world: Paying, method: string, change: (result: never) => unknown) =>
  oddEndpoint(world.chain, method.toLowerCase(), lyingAbout(method, change)).option;
const honest = (world: Paying, name: string) => oddEndpoint(world.chain, name).option;
const dead = (world: Paying, name: string) => oddEndpoint(world.chain, name, gone).option;

describe("broadcast and statuses", () => {
  test('E8: a node that answers "already processed" has it', async ({ world }) => {
    const attempt = await ready(world);
    const words = "Transaction simulation failed: This transaction has already been processed";
    const data = { err: "AlreadyProcessed", logs: [] };
    for (const error of [{ message: words, data }, { message: "custom words", data }, { message: words }]) {
      const lift = world.chain.faults.add(({ method }) =>
        method === "sendTransaction" ? { kind: "error", code: -32002, ...error } : undefined,
      );
      await expect(world.ledger.broadcast(attempt.bytes)).resolves.toBeUndefined();
      lift();
    }
  });

  test("any other refusal, or no answer, is LedgerUnavailable: unknown, never failed", async ({ world }) => {
    const attempt = await ready(world);
    const errors = [
      { kind: "error", code: -32002, message: "Blockhash not found", data: { err: "BlockhashNotFound" } },
      { kind: "error", code: -32602, message: "invalid transaction" },
      { kind: "refuse", status: 403 },
    ] as const;
    for (const fault of errors) {
      const lift = world.chain.faults.add(({ method }) => (method === "sendTransaction" ? fault : undefined));
      await expect(world.ledger.broadcast(attempt.bytes)).rejects.toBeInstanceOf(LedgerUnavailable);
      lift();
    }
  });

  test("600 signatures are asked for in three calls and answered in order", async ({ world }) => {
    const attempt = await ready(world);
    await world.ledger.broadcast(attempt.bytes);
    let calls = 0;
    world.chain.faults.add(({ method }) => {
      if (method === "getSignatureStatuses") calls += 1;
      return undefined;
    });
    const signatures = Array<string>(600).fill("1".repeat(64)).with(577, attempt.signature);
    const found = await world.ledger.statuses(signatures);
    expect(found).toHaveLength(600);
    expect(found.findIndex((each) => each !== null)).toBe(577);
    expect(calls).toBe(3);
  });
});

describe("fates", () => {
  const fate = async (ledger: Ledger, attempt: Attempt): Promise<string | undefined> =>
    (await fatesOf(ledger, [attempt]))[0];

  test("E10: one lying null does not kill what another endpoint has seen", async ({ world }) => {
    const attempt = await ready(world);
    await world.ledger.broadcast(attempt.bytes);
    world.chain.advance(300);
    const lying = node(world, "getSignatureStatuses", ({ context, value }: Answer) => ({
      context,
      value: value.map(() => null),
    }));
    // Its own list for an account that the message writes shows it.
    expect(await fate(world.ledgerOf([lying, honest(world, "honest")]), attempt)).toBe("landed");
    const unlisted = { ...attempt, bytes: new Uint8Array() };
    expect(await fate(world.ledgerOf([lying, honest(world, "honest")]), unlisted)).toBe("unprovable");
    const alike = { ...lying, url: "http://another.example" };
    expect(await fate(world.ledgerOf([lying, alike, honest(world, "honest")]), unlisted)).toBe("unprovable");
    const [one, two] = [honest(world, "one"), honest(world, "two")];
    expect(await fate(world.ledgerOf([lying, one, two]), attempt)).toBe("landed");
  });

  test("E10: bytes that one endpoint has not seen, or that too few were asked about, stay open and are sent again", async ({
    world,
  }) => {
    const attempt = await ready(world);
    const processed = { slot: 1_100, confirmations: 0, err: null, confirmationStatus: "processed" };
    const lying = node(world, "getSignatureStatuses", ({ context }: Answer) => ({
      context,
      value: [processed],
    }));
    expect(await fate(world.ledgerOf([lying, honest(world, "honest")]), attempt)).toBe("open");
    expect(await fate(world.ledgerOf([lying, dead(world, "dead")]), attempt)).toBe("open");
    await world.ledger.broadcast(attempt.bytes);
    expect(await fate(world.ledgerOf([lying, honest(world, "honest")]), attempt)).toBe("seen");
  });

  test("E10: two nulls do not kill what a third endpoint has seen, however little buried", async ({
    world,
  }) => {
    const attempt = await ready(world);
    world.chain.advance(300);
    const seen = node(world, "getSignatureStatuses", ({ context }: Answer) => ({
      context,
      value: [{ slot: 1_100, confirmations: 0, err: null, confirmationStatus: "processed" }],
    }));
    expect(await fate(world.ledgerOf([honest(world, "one"), honest(world, "two"), seen]), attempt)).toBe(
      "unprovable",
    );
  });

  test("an endpoint that lags is no witness, nor one whose null is older than its height", async ({
    world,
  }) => {
    const attempt = await ready(world);
    world.chain.advance(300);
    const behind = node(world, "getEpochInfo", (result: { blockHeight: number }) => ({
      ...result,
      blockHeight: attempt.lastValidBlockHeight,
    }));
    expect(await fate(world.ledgerOf([behind]), attempt)).toBe("open");
    expect(await fate(world.ledgerOf([behind, honest(world, "honest")]), attempt)).toBe("open");
    const stale = node(world, "getSignatureStatuses", (result: { context: object; value: unknown }) => ({
      ...result,
      context: { slot: world.chain.slot() - 32 },
    }));
    expect(await fate(world.ledgerOf([stale]), attempt)).toBe("open");
  });

  test("an endpoint of another chain is no witness", async ({ world }) => {
    const attempt = await ready(world);
    await world.ledger.broadcast(attempt.bytes);
    const elsewhere = node(world, "getGenesisHash", () => "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG");
    world.chain.advance(300);
    const other = await ready(world);
    world.chain.advance(300);
    expect(await fate(world.ledgerOf([elsewhere, honest(world, "honest")]), other)).toBe("open");
    expect(await fate(world.ledgerOf([honest(world, "one"), honest(world, "two")]), other)).toBe("dead");
  });

  test("300 attempts are judged in order", async ({ world }) => {
    const landed = await ready(world);
    await world.ledger.broadcast(landed.bytes);
    world.chain.advance(300);
    const unseen = { ...landed, signature: "1".repeat(64), messageHash: "0".repeat(64) };
    const found = await fatesOf(
      world.ledger,
      Array.from({ length: 300 }, (_, index) => (index === 280 ? landed : unseen)),
    );
    expect(found.filter((each) => each === "dead")).toHaveLength(299);
    expect(found[280]).toBe("landed");
  });
});
