/** Transactions with a tip for the relay that wants one: where it stands, where it has no room, and who gets which bytes. */
import { expect } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { addressOf, type Address } from "../../src/address.ts";
import { solanaLedger, type EndpointOptions } from "../../src/solana/index.ts";
import { lastTransfer, tipRelay, type TipRelay } from "../kit/tip-relay.ts";
import { sharedRoutingTest } from "./routing/routing-test.ts";
import type { RoutingFixture } from "./routing/routing-fixture.ts";

const TIP = 100_000n;
const SEED = "0";

/** A ledger over a node and a relay that wants a tip. */
interface Tipped {
  readonly ledger: Ledger;
  readonly relay: TipRelay;
  readonly accounts: readonly Address[];
}

function tipped(world: RoutingFixture): Tipped {
  const accounts = [1, 2, 3].map(() => world.party({ lamports: 1_000_000_000n }).address);
  const relay = tipRelay(world.chain, accounts, TIP);
  const ledger = world.ledgerOf([{ url: "http://node.example", fetch: world.chain.fetch }, relay.option]);
  return { ledger, relay, accounts };
}

const withMessage = (message: Uint8Array, signers: number): Uint8Array =>
  Buffer.concat([Buffer.from([signers]), Buffer.alloc(64 * signers), message]);

const test = sharedRoutingTest.extend("tipped", { scope: "file" }, ({ world }) => tipped(world));

test("N16: a second endpoint that wants a tip is refused, and a sender that wants none must stand beside it", () => {
  const tip = { accounts: [addressOf(new Uint8Array(32).fill(3))], lamports: 1_000n };
  const node = "http://node.example";
  const relay = (name: string): EndpointOptions => ({ url: `http://${name}.example`, roles: ["send"], tip });
  const problems = (...endpoints: EndpointOptions[]): string => {
    try {
      solanaLedger({ endpoints });
      return "none";
    } catch (error) {
      return String(error);
    }
  };
  expect(problems(node, relay("a"))).toBe("none");
  expect(problems(node, relay("a"), relay("b"))).toContain("expected at most one that wants a tip");
  expect(problems({ url: node, roles: ["read", "witness"] }, relay("a"))).toContain("that wants no tip");
  expect(problems(node, { url: "http://a.example", roles: ["read"], tip })).toContain(
    "expected the role `send` in the roles of the one that wants a tip",
  );
  for (const wrong of [
    { ...tip, lamports: 0n },
    { ...tip, lamports: 10_000_001n },
    { ...tip, accounts: [] },
    { ...tip, accounts: ["no address"] },
  ]) {
    expect(problems(node, { url: "http://a.example", roles: ["send"], tip: wrong })).toContain(
      "endpoints.1.tip.",
    );
  }
});

test("N16: the tip stands last, is paid by the fee payer, and is a part of the network fee", async ({
  world,
  tipped: { ledger, accounts },
}) => {
  const deposit = world.deposit({ lamports: 1_000_000_000n });
  const plan = world.plan(world.mark(deposit, SEED), world.sol(deposit, world.nobody(), 5_000_000n));
  const without = await ledger.buildTransaction(plan);
  const unsigned = await ledger.buildTransaction(plan, { from: "floor", tip: TIP });
  expect(ledger.tip).toBe(TIP);
  expect([without.tip, unsigned.tip]).toEqual([undefined, TIP]);
  const bids = unsigned.priorityFee - without.priorityFee;
  expect(unsigned.networkFee - without.networkFee).toBe(TIP + bids);
  const last = lastTransfer(withMessage(unsigned.message, 2));
  expect(last).toMatchObject({ from: world.sponsor.address, lamports: TIP });
  expect(accounts).toContain(last?.to);
  expect(await ledger.tryOrder(plan, unsigned)).toBeNull();
  // Less than the relay wants is no tip, and a price of what is not built yet counts none.
  const less = await ledger.buildTransaction(plan, { from: "floor", tip: TIP - 1n });
  expect(less.tip).toBeUndefined();
  expect(lastTransfer(withMessage(less.message, 2))?.lamports).toBe(5_000_000n);
  expect(await ledger.feeOf(plan, "floor")).toBe(less.networkFee);
});

test("N16: the fullest payouts have no room for a tip: their bytes are as they were, and do not go to the relay", async ({
  world,
  tipped: { ledger, relay },
}) => {
  const deposit = world.deposit({ lamports: 1_000_000_000n, usdc: 1_000n });
  const payout = (payees: number) =>
    world.plan(
      world.mark(deposit, SEED),
      ...Array.from({ length: payees }, () => world.usdc(deposit, world.nobody(), 5n)),
    );
  const fullest = payout(7);
  expect(await ledger.sizeOf(fullest)).toBe(1_220);
  const unsigned = await ledger.buildTransaction(fullest, { from: "floor", tip: TIP });
  const { message } = await ledger.buildTransaction(fullest, { from: "floor" });
  expect(unsigned.tip).toBeUndefined();
  // But for the blockhash they are the same.
  expect(unsigned.message).toEqual(message);
  const full = withMessage(unsigned.message, 2);
  await ledger.broadcast(full).catch(() => {});
  const roomy = await ledger.buildTransaction(payout(6), { from: "floor", tip: TIP });
  expect(roomy.tip).toBe(TIP);
  const short = withMessage(roomy.message, 2);
  expect(short.length).toBeLessThanOrEqual(1_232);
  await ledger.broadcast(short).catch(() => {});
  expect([...relay.sent]).toEqual([Buffer.from(short).toString("base64")]);
});

test("N16: bytes that mean nothing, and transfers of another amount or to another account, are no tip", async ({
  world,
  tipped: { ledger, relay, accounts },
}) => {
  relay.sent.clear();
  const deposit = world.deposit({ lamports: 1_000_000_000n });
  const paying = async (to: Address, amount: bigint): Promise<Uint8Array> => {
    const { message } = await ledger.buildTransaction(world.plan(world.sol(deposit, to, amount)));
    return withMessage(message, 2);
  };
  const [account = deposit.address] = accounts;
  for (const bytes of [
    new Uint8Array(40),
    await paying(account, TIP - 1n),
    await paying(account, TIP + 1n),
    await paying(world.nobody(), TIP),
  ]) {
    await ledger.broadcast(bytes).catch(() => {});
  }
  expect([...relay.sent]).toEqual([]);
});

test("N16: a relay that is out of service is tipped nothing", async ({ world, tipped: { ledger } }) => {
  const deposit = world.deposit({ lamports: 1_000_000_000n });
  const plan = world.plan(world.mark(deposit, SEED), world.sol(deposit, world.nobody(), 5_000_000n));
  const restricted = await ledger.restricted({ witnesses: null, without: ["relay.example"] });
  const unsigned = await restricted.buildTransaction(plan, { from: "floor", tip: TIP });
  expect(unsigned.tip).toBeUndefined();
});

test("N16: the place of a send is one of a sender that wants no tip", async ({ world }) => {
  const relay = tipRelay(world.chain, [world.nobody()], TIP);
  const node = { url: "http://node.example", fetch: world.chain.fetch, sendsPerSecond: 1 };
  const ledger = world.ledgerOf([relay.option, node]);
  expect(await ledger.takeSendPlace("first")).toBe(true);
  expect(await ledger.takeSendPlace("first")).toBe(false);
});
