/** Orders over two endpoints of which one tells something else: what waits, what is said, and how an operator ends it. */
// modules: private
import {
  AccountLayout,
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
} from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import { afterEach, describe, expect, test } from "vitest";
import { EndpointsDifferError } from "../../../src/ledger/ledger.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { associatedTokenAddress } from "../../../src/local/funding.ts";
import type { AttentionChange } from "../../../src/payments/operator/attention/matter-report-loop.ts";
import type { PaymentServiceOptions } from "../../../src/service/payment-service-options.ts";
import type { PrivateRoutingOptions } from "../../../src/payments/private/private-routing-options.ts";
import { BY } from "../../kit/by.ts";
import { lyingAbout, oddEndpoint, type OddEndpoint, type OddRule } from "../../kit/odd-endpoints.ts";
import { privateFixture, type PrivateFixture } from "../../kit/private-fixture.ts";
import { renaming } from "../../kit/renamed-payer.ts";
import { land } from "../../solana/signed-transaction.ts";

interface Scene extends PrivateFixture {
  /** The preferred endpoint. */
  readonly one: OddEndpoint;
  readonly two: OddEndpoint;
  readonly account: Caller;
  readonly alice: Wallet;
  readonly bob: Wallet;
  readonly id: string;
  readonly address: string;
  /** What the order asks for, in base units of USDC. */
  readonly asked: bigint;
  shown(): Promise<Record<string, unknown>>;
  /** A few looks at everything. */
  look(): Promise<void>;
}

const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

const WINDOW_MS = 30 * 60_000;

/** An order of 5 USDC from Alice to Bob that waits for its deposit. */
async function scene(
  routing: Partial<PrivateRoutingOptions> = {},
  options: Partial<PaymentServiceOptions> = {},
): Promise<Scene> {
  const odd: OddEndpoint[] = [];
  const fixture = await privateFixture(options, routing, ({ chain, ledgerOf }) => {
    odd.push(oddEndpoint(chain, "one"), oddEndpoint(chain, "two"));
    return ledgerOf(odd.map(({ option }) => option));
  });
  ended.push(() => fixture.close());
  const [one, two] = odd;
  if (one === undefined || two === undefined) throw new Error("there are two endpoints");
  const account = await fixture.caller();
  const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 1n });
  const bob = fixture.wallet("bob", { lamports: 1_000_000n, usdc: 1n });
  const to = [{ address: bob.address, amount: "5" }];
  const { body } = await fixture.order(account, { sender: alice, to });
  return {
    ...fixture,
    one,
    two,
    account,
    alice,
    bob,
    id: body.transactionId,
    address: body.ephemeralAddress,
    asked: BigInt(Math.round(Number(body.depositAmount) * 1e6)),
    shown: async () => ({ ...(await fixture.service.transaction(account, body.transactionId)) }),
    async look() {
      for (let time = 0; time < 4; time += 1) {
        fixture.chain.advance(35);
        await fixture.pass(8_000);
        await fixture.service.settled();
      }
    },
  };
}

interface AccountsTold {
  readonly context: object;
  readonly value: readonly unknown[];
}

/** Of every account but the chain's own, of which the clock is asked for first, the endpoint says that it does not exist. */
const hidingAccounts: OddRule = (request) => {
  const keys = request.params[0];
  const isOfAddresses = Array.isArray(keys) && String(keys[0]).startsWith("SysvarC1ock");
  if (!isOfAddresses) return undefined;
  return lyingAbout("getMultipleAccounts", ({ context, value }: AccountsTold) => ({
    context,
    value: value.map((account, index) => (String(keys[index]).startsWith("Sysvar") ? account : null)),
  }))(request);
};

const AMOUNT_AT = 64;

/** The endpoint is so far behind that it does not show the last so many units of a token account. */
function showingLess(units: bigint): OddRule {
  return (request) => {
    const keys = request.params[0];
    const isOfAddresses = Array.isArray(keys) && String(keys[0]).startsWith("SysvarC1ock");
    if (!isOfAddresses) return undefined;
    return lyingAbout("getMultipleAccounts", ({ context, value }: AccountsTold) => ({
      context,
      value: value.map((account) => withLess(account as ToldAccount | null, units)),
    }))(request);
  };
}

interface ToldAccount {
  readonly space: number;
  readonly data: readonly [string, "base64"];
}

function withLess(account: ToldAccount | null, units: bigint): ToldAccount | null {
  if (account?.space !== AccountLayout.span) return account;
  const bytes = Buffer.from(account.data[0], "base64");
  const amount = bytes.readBigUInt64LE(AMOUNT_AT);
  if (amount < units) return account;
  bytes.writeBigUInt64LE(amount - units, AMOUNT_AT);
  return { ...account, data: [bytes.toString("base64"), "base64"] };
}

/** At every address but the clock where there is nothing, the endpoint invents two million lamports. */
const inventingLamports: OddRule = (request) => {
  const keys = request.params[0];
  const isOfAddresses = Array.isArray(keys) && String(keys[0]).startsWith("SysvarC1ock");
  if (!isOfAddresses) return undefined;
  const data = ["", "base64"] as const;
  const invented = { lamports: 2_000_000, owner: PublicKey.default.toBase58(), data, executable: false };
  return lyingAbout("getMultipleAccounts", ({ context, value }: AccountsTold) => ({
    context,
    value: value.map((account) => account ?? { ...invented, rentEpoch: 0, space: 0 }),
  }))(request);
};

test("M20: a window that a deposit which never was has kept open closes as soon as the endpoints agree", async () => {
  const { one, pass, look, shown } = await scene();
  one.rule = inventingLamports;
  await pass(WINDOW_MS + 60_000);
  await look();
  expect(await shown()).toMatchObject({ status: "pending" });
  one.rule = undefined;
  await look();
  expect(await shown()).toMatchObject({ status: "failed", reason: "DEPOSIT_TIMEOUT" });
});

describe("M20: one of two endpoints hides a deposit until the window is over", () => {
  async function windowOver(
    which: "one" | "two",
    options: Partial<PaymentServiceOptions> = {},
  ): Promise<Scene> {
    const world = await scene({}, options);
    world[which].rule = hidingAccounts;
    world.chain.fund(world.address, { usdc: world.asked });
    world.chain.advance(35);
    await world.pass(WINDOW_MS + 60_000);
    await world.look();
    return world;
  }

  test.for(["one", "two"] as const)(
    "the order stays open while they differ (%s), and is paid when they agree",
    async (which) => {
      const world = await windowOver(which);
      const { service, one, two, bob, held, look, shown, address } = world;
      expect(await shown()).toMatchObject({ status: "pending", reason: null });
      expect(await service.health()).toMatchObject({ status: "degraded", disputes: 1 });
      expect(await service.operator.attention()).toContainEqual(
        expect.objectContaining({
          kind: "disputed",
          message: expect.stringContaining(`the money at deposit address ${address}`) as string,
        }),
      );
      [one.rule, two.rule] = [undefined, undefined];
      await look();
      await look();
      expect(await shown()).toMatchObject({ status: "completed" });
      expect((await held(bob.address))[1]).toBe(5_000_001n);
      expect(await service.health()).toMatchObject({ disputes: 0 });
    },
  );

  test("a process that asks nobody lists it too, and the host is told when it begins and when it is over", async () => {
    const news: AttentionChange[] = [];
    const world = await windowOver("two", { onAttention: (told) => void news.push(told) });
    const { two, look, pass, address } = world;
    const told = () =>
      news.filter(({ matter }) => matter.kind === "disputed").map(({ state, matter }) => [state, matter.id]);
    // As a command does, which opens the service beside the one that is at work.
    const beside = world.another();
    const listed = async () => (await beside.operator.attention()).filter(({ kind }) => kind === "disputed");
    await pass(30_000);
    const matter = { id: expect.stringContaining(address) as string, actions: [] };
    expect(await listed()).toMatchObject([matter]);
    for (let half = 0; half < 10; half += 1) await pass(30_000);
    expect(await listed()).toMatchObject([matter]);
    expect(told()).toEqual([["waiting", matter.id]]);
    two.rule = undefined;
    await look();
    await pass(30_000);
    expect(await listed()).toEqual([]);
    expect(told()).toEqual([
      ["waiting", matter.id],
      ["over", matter.id],
    ]);
  });

  test("an operator takes the endpoint that hides it out of service, for a time, and the order is paid", async () => {
    const world = await windowOver("one");
    const { service, bob, held, look, shown, pass } = world;
    const { operator } = service;
    await expect(operator.suspendEndpoint({ endpoint: "three.example", minutes: 30 }, BY)).rejects.toThrow(
      "endpoint: expected one of one.example, two.example, not three.example",
    );
    const entry = await operator.suspendEndpoint({ endpoint: "one.example", minutes: 30 }, BY);
    expect(Date.parse(entry.until) - Date.parse(entry.since)).toBe(30 * 60_000);
    await expect(operator.suspendEndpoint({ endpoint: "two.example", minutes: 1 }, BY)).rejects.toThrow(
      "endpoint: two.example is the last one in service",
    );
    expect(await operator.auditLog()).toMatchObject([
      { act: "suspend_endpoint", what: { endpoint: "one.example", minutes: 30 }, ...BY },
    ]);
    await look();
    await look();
    expect(await shown()).toMatchObject({ status: "completed" });
    expect((await held(bob.address))[1]).toBe(5_000_001n);
    expect((await operator.attention()).map(({ kind }) => kind)).toContain("suspended_endpoint");
    expect(await service.health()).toMatchObject({ witnesses: { needed: 1, answering: 1 } });
    await pass(31 * 60_000);
    expect(await service.health()).toMatchObject({ witnesses: { needed: 2, answering: 2 } });
    await expect(operator.restoreEndpoint("one.example", BY)).rejects.toThrow("one.example is in service");
  });

  test("a stranger who sends dust in each block keeps no window open", async () => {
    const world = await scene();
    const { chain, pass, look, shown, address, two } = world;
    await pass(WINDOW_MS + 60_000);
    // The other endpoint is some blocks behind, so that it never shows as much.
    two.rule = showingLess(999n);
    chain.fund(address, { usdc: 999n });
    for (let block = 0; block < 4; block += 1) {
      chain.fund(address, { usdc: 999n });
      chain.advance(34);
      await pass(8_000);
    }
    await look();
    expect(await shown()).toMatchObject({ status: "failed", reason: "INCOMPLETE_DEPOSIT" });
  });
});

describe("M19: one of two endpoints names a clean depositor for the deposit of a refused one", () => {
  async function deceived(which: "one" | "two"): Promise<Scene> {
    const refused = new Set<string>();
    const world = await scene({ screen: async (address) => (refused.has(address) ? "refused" : "ok") });
    const dave = world.wallet("dave", { lamports: 1_000_000_000n, usdc: 50_000_000n });
    const erin = world.wallet("erin", { lamports: 1_000_000_000n });
    refused.add(dave.address);
    world[which].rule = renaming(dave.address, erin.address);
    const [owner, mint, payer] = [world.address, world.mints.USDC, dave.address].map(
      (each) => new PublicKey(each),
    );
    if (owner === undefined || mint === undefined || payer === undefined) throw new Error("there are three");
    const [from, to] = [dave.address, world.address].map(
      (each) => new PublicKey(associatedTokenAddress(each, world.mints.USDC)),
    );
    if (from === undefined || to === undefined) throw new Error("there are two");
    const instructions = [
      createAssociatedTokenAccountIdempotentInstruction(payer, to, owner, mint),
      createTransferCheckedInstruction(from, mint, to, payer, world.asked, 6),
    ];
    await land(world, { signers: [dave], instructions });
    await world.look();
    await world.look();
    return world;
  }

  async function expectUnpaid({ held, bob, shown }: Scene, status = "processing"): Promise<void> {
    expect((await held(bob.address))[1]).toBe(1n);
    expect(await shown()).toMatchObject({ status, signatures: [], refunds: [] });
  }

  const reasonIn = async ({ storage, id }: Scene): Promise<string | null> => {
    const [view] = await storage.orderViews([id]);
    return view?.holds.find(({ endedAt }) => endedAt === null)?.reason ?? null;
  };

  test.for(["one", "two"] as const)(
    "nobody is served while they differ (%s lies), and the order is held when they agree",
    async (which) => {
      const world = await deceived(which);
      const { service } = world;
      await expectUnpaid(world, "pending");
      expect(await reasonIn(world)).toBeNull();
      expect((await service.health()).disputes).toBe(1);
      expect(await service.operator.attention()).toContainEqual(
        expect.objectContaining({
          kind: "disputed",
          message: expect.stringContaining("the content of transaction") as string,
        }),
      );
      world[which].rule = undefined;
      await world.pass(60_000);
      await world.look();
      await expectUnpaid(world);
      expect(await reasonIn(world)).toBe("screening");
      expect((await service.health()).disputes).toBe(0);
    },
  );

  test("without the endpoint that lies, which an operator takes out of service, the order is held", async () => {
    const world = await deceived("one");
    await world.service.operator.suspendEndpoint({ endpoint: "one.example", minutes: 30 }, BY);
    await world.pass(60_000);
    await world.look();
    await expectUnpaid(world);
    expect(await reasonIn(world)).toBe("screening");
  });
});

test("M34: while one endpoint tells ten times the rent nothing is quoted dearer, and afterwards nobody has to act", async () => {
  const world = await scene();
  const { service, two, account, alice, bob, chain, order, look, shown, address, asked } = world;
  const to = [{ address: bob.address, amount: "5" }];
  const { quote } = await order(account, { sender: alice, to });
  await world.pass(11_000);
  two.rule = lyingAbout("getMinimumBalanceForRentExemption", (honest: number) => honest * 10);
  chain.fund(address, { usdc: asked });
  await look();
  await expect(order(account, { sender: alice, to })).rejects.toThrow(EndpointsDifferError);
  expect(await shown()).not.toMatchObject({ status: "failed" });
  two.rule = undefined;
  await world.pass(5 * 60_000);
  await look();
  await look();
  expect(await shown()).toMatchObject({ status: "completed" });
  expect((await order(account, { sender: alice, to })).quote.fee).toBe(quote.fee);
  expect(await service.operator.attention()).toEqual([]);
});

test("M34: a rent that one endpoint tells wrong to the purses is disputed until they are read again, within five minutes", async () => {
  const { service, two, pass } = await scene();
  const disputed = async (): Promise<readonly string[]> =>
    (await service.operator.attention()).filter(({ kind }) => kind === "disputed").map(({ id }) => id);
  two.rule = lyingAbout("getMinimumBalanceForRentExemption", (honest: number) => honest * 10);
  await pass(5 * 60_000);
  expect(await disputed()).toEqual(["disputed:the rent of an account"]);
  two.rule = undefined;
  await pass(4 * 60_000);
  expect(await disputed()).toEqual(["disputed:the rent of an account"]);
  expect(await service.health()).toMatchObject({ status: "degraded", disputes: 1 });
  await pass(60_000);
  expect(await disputed()).toEqual([]);
  expect(await service.health()).toMatchObject({ disputes: 0 });
});
