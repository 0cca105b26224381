/** Deposits and time: many small ones, the last second of the window, dead nodes, and what is looked at how often. */
// modules: private
import { createTransferCheckedInstruction } from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import { expect } from "vitest";
import type { FaultRule, RpcRequest } from "paystate/local";
import { CLOCK_SYSVAR } from "../../../src/solana/programs.ts";
import type { DepositRecord } from "../../../src/payments/private/tables.ts";
import { sampled } from "../../kit/thorough.ts";
import { signed } from "../../solana/signed-transaction.ts";
import { DAY, HOUR, MINUTE, SOL, type Ordered, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

/** Counts the calls that reach the node from now on, by method, without those that `isOther`. */
function counting(
  world: Scene,
  isOther: (call: RpcRequest) => boolean = () => false,
): {
  readonly total: () => number;
  readonly of: (method: string) => number;
} {
  const calls = new Map<string, number>();
  world.chain.faults.add((call) => {
    if (!isOther(call)) calls.set(call.method, (calls.get(call.method) ?? 0) + 1);
    return undefined;
  });
  return {
    total: () => [...calls.values()].reduce((sum, count) => sum + count, 0),
    of: (method) => calls.get(method) ?? 0,
  };
}

const COST_METHODS: ReadonlySet<string> = new Set([
  "getFeeForMessage",
  "getLatestBlockhash",
  "getMinimumBalanceForRentExemption",
]);

/** What the service asks about its own wallets, and about what a send costs now, to tell when one is low. */
function isOfPurses({ sponsor, treasury }: Scene, { method, params }: RpcRequest): boolean {
  const asked = JSON.stringify(params);
  const isOwn = [sponsor, treasury].some(({ address }) => asked.includes(address));
  return isOwn || COST_METHODS.has(method);
}

/** The ledger looks from time to time how far an endpoint is. */
const isLook = ({ params }: RpcRequest): boolean => String(params[0]) === CLOCK_SYSVAR;

const steps = async (world: Scene, { id }: Ordered): Promise<number> =>
  (await world.storage.load(id))?.version ?? 0;

/** Lets the time pass in which an address is looked at closely. */
async function comeToRest(world: Scene, order: Ordered): Promise<void> {
  await world.passAndSettle(16 * MINUTE, 1);
  expect(await world.stateOf(order)).toBe("late");
}

async function depositsOf({ storage }: Scene, { id }: Ordered): Promise<readonly DepositRecord[]> {
  return (await storage.orderedTransaction(id))?.order?.deposits ?? [];
}

test("P9: two payers are summed, each counted once, however often the chain is looked at", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  const carol = world.wallet("carol", { lamports: SOL, usdc: 4_000_000n });
  const dave = world.wallet("dave", { lamports: SOL, usdc: 4_000_000n });
  await world.openAccount({ ...carol, address: order.address as never }, "USDC");
  for (const payer of [carol, dave]) {
    await world.payTokens(payer, order.address, "USDC", 3_000_000n);
    for (let look = 0; look < 40; look++) await world.service.settled();
  }
  await world.settle(10);
  const done = await world.shown(order);
  expect(done).toMatchObject({ status: "completed", refunds: [{ asset: "USDC", status: "paid" }] });
  const received = (await depositsOf(world, order)).filter(({ mint }) => mint === world.mints.USDC);
  expect(received.reduce((sum, { amount }) => sum + amount, 0n)).toBe(6_000_000n);
  await world.judge();
});

test("P14: a deposit that failed on the chain is none", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo();
  const carol = world.wallet("carol", { lamports: SOL, usdc: 1_000n });
  await world.openAccount({ ...carol, address: order.address as never }, "USDC");
  const account = (owner: string): PublicKey =>
    new PublicKey(world.tokenAccountOf({ ...carol, address: owner as never }, "USDC"));
  const transfer = createTransferCheckedInstruction(
    account(carol.address),
    new PublicKey(world.mints.USDC),
    account(order.address),
    new PublicKey(carol.address),
    order.due,
    6,
  );
  const bytes = Buffer.from(await signed(world, { signers: [carol], instructions: [transfer] }), "base64");
  await world.ledger.broadcast(bytes).catch(() => undefined);
  await world.settle(4);
  expect(await world.shown(order)).toMatchObject({ status: "pending" });
  expect(await depositsOf(world, order)).toEqual([]);
  await world.passAndSettle(31 * MINUTE);
  expect(await world.shown(order)).toMatchObject({ status: "failed", reason: "DEPOSIT_TIMEOUT" });
  await world.judge();
});

test("P15: a hundred dust transactions change no status, write nothing and cost no call of their own", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: 1n });
  const before = await steps(world, order);
  const calls = counting(world);
  for (let index = 0; index < 98; index++) await world.deposit(order.address, { usdc: 1n });
  expect(await world.shown(order)).toMatchObject({ status: "pending" });
  expect(await steps(world, order)).toBe(before);
  expect(await depositsOf(world, order)).toEqual([]);
  // One look each; nobody asks what the transactions were.
  expect(calls.of("getSignaturesForAddress") + calls.of("getTransaction")).toBe(0);
  expect(calls.total()).toBeLessThan(300);
  // It is not lost: the deposit that makes it whole is counted together with it.
  await world.deposit(order.address, { usdc: order.due - 99n });
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed", refunds: [] });
  const deposits = await depositsOf(world, order);
  expect(deposits.reduce((sum, { amount }) => sum + amount, 0n)).toBe(order.due);
  await world.judge();
});

test("P15: dust after the end changes no status, and goes back when it is found, while its account's rent pays for that", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.passAndSettle(31 * MINUTE);
  const [before] = await world.held(world.sponsor.address);
  for (let times = 0; times < 40; times++) {
    await world.deposit(order.address, { usdc: 3n });
    await world.pass(MINUTE);
  }
  await world.passAndSettle(DAY, 4);
  await world.passAndSettle(3 * HOUR, 4);
  const ended = await world.shown(order);
  expect(ended).toMatchObject({ status: "failed", reason: "DEPOSIT_TIMEOUT", unreturned: [] });
  expect(ended.refunds.length).toBeGreaterThan(0);
  // At most one in ten minutes.
  expect(ended.refunds.length).toBeLessThanOrEqual(5);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  const [after] = await world.held(world.sponsor.address);
  expect(after).toBeGreaterThanOrEqual(before);
  await world.judge();
});

const ONE_UNIT = [
  ["USDC", { usdc: 1n }],
  ["SOL", { lamports: 1n }],
] as const;

test.for(sampled(ONE_UNIT, "one unit"))(
  "P15: one unit of %s sent just before a payout or a rest lands breaks neither",
  async ([asset, unit], { open }) => {
    const world = await open();
    const order = await world.sendTo({ asset, amount: "0.5" });
    let dusted = 0;
    world.chain.faults.add(({ method }) => {
      // After the simulation, before the bytes arrive.
      if (method === "sendTransaction" && dusted < 4) {
        dusted += 1;
        world.chain.fund(order.address, unit);
      }
      return undefined;
    });
    await world.deposit(order.address, asset === "SOL" ? { lamports: order.due } : { usdc: order.due });
    await world.settle(8);
    expect(await world.shown(order)).toMatchObject({ status: "completed", signatures: [expect.any(String)] });
    expect(dusted).toBeGreaterThan(1);
    // What dust has disturbed and is not worth a transfer of its own is tried again an hour later, and after the third time
    // an hour after that.
    for (const minutes of [11, 61, 61, 61, 61]) await world.passAndSettle(minutes * MINUTE, 4);
    expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
    await world.judge();
  },
);

test("P25: with every websocket dead for an hour polling completes the order", async ({ open }) => {
  const world = await open();
  world.chain.faults.add(({ transport }) => (transport === "websocket" ? { kind: "hang" } : undefined));
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.judge();
});

const OUT: FaultRule = () => ({ kind: "refuse", status: 503 });

/** Lets an outage last: the ledger's own pauses, and the tries of its callers, pass on the clock. */
async function outage(world: Scene, ms: number): Promise<void> {
  const lift = world.chain.faults.add(OUT);
  const until = world.clock.now() + ms;
  while (world.clock.now() < until) {
    world.clock.advance(5_000);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  lift();
  for (let turn = 0; turn < 200; turn++) {
    world.clock.advance(50);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("P25: an hour without any node in the middle of the payout changes no status, and then it completes", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due });
  expect(await world.shown(order)).toMatchObject({ status: "processing" });
  await outage(world, HOUR);
  expect(await world.shown(order)).toMatchObject({ status: "processing" });
  await world.passAndSettle(2 * MINUTE, 12);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  await world.passAndSettle(11 * MINUTE, 4);
  await world.judge();
});

test("P30: a deposit in the last second of the window counts, though no node answers until long after it", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.pass(30 * MINUTE - 1_000);
  world.chain.fund(order.address, { usdc: order.due });
  await outage(world, 20 * MINUTE);
  world.chain.advance(35);
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.judge();
});

test("P30: the window does not close by our clock, but by a finalized block's that is past it", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  world.clock.advance(31 * MINUTE);
  // No slot has passed: the newest finalized block is still from before.
  await world.service.settled();
  expect(await world.shown(order)).toMatchObject({ status: "pending" });
  world.chain.fund(order.address, { usdc: order.due });
  world.chain.advance(35);
  await world.settle(10);
  // Whatever the first block past the window shows counts.
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.judge();
});

test("P10: late money is refunded at most once in ten minutes, whoever sends it how often", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.passAndSettle(31 * MINUTE);
  for (let index = 0; index < 5; index++) {
    await world.deposit(order.address, { usdc: 1_000_000n });
    await world.passAndSettle(MINUTE, 4);
  }
  expect((await world.shown(order)).refunds.length).toBe(1);
  await world.passAndSettle(11 * MINUTE, 6);
  const { refunds } = await world.shown(order);
  expect(refunds).toMatchObject([{ status: "paid" }, { status: "paid" }]);
  await world.passAndSettle(11 * MINUTE, 6);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("for fifteen minutes after its order an address is looked at as closely as before, and late money is refunded at once", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.passAndSettle(31 * MINUTE);
  expect(await world.stateOf(order)).toBe("recent");
  await world.pass(10 * MINUTE);
  const now = world.clock.now();
  await world.deposit(order.address, { usdc: 1_000_000n });
  await world.settle(4);
  expect(await world.shown(order)).toMatchObject({ refunds: [{ asset: "USDC", status: "paid" }] });
  expect(world.clock.now()).toBe(now);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("an address whose order is over costs one call in five minutes, and late money is still found and refunded", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.passAndSettle(31 * MINUTE);
  await comeToRest(world, order);
  const live = async (minutes: number): Promise<void> => {
    for (let minute = 0; minute < minutes; minute++) {
      world.clock.advance(MINUTE);
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await live(5);
  const calls = counting(world, (call) => isOfPurses(world, call) || isLook(call));
  await live(60);
  expect(calls.of("getMultipleAccounts")).toBe(12);
  expect(calls.total()).toBe(12);
  world.chain.fund(order.address, { lamports: SOL });
  world.chain.advance(35);
  // Six looks at the most, and one more that the refund takes.
  await live(35);
  await world.settle(4);
  expect(await world.shown(order)).toMatchObject({ refunds: [{ asset: "SOL", status: "paid" }] });
  await world.passAndSettle(11 * MINUTE, 4);
  await world.judge();
});

test("an address is watched for a day after the last thing that happened, then for sixty in the slow lane, then no more", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.passAndSettle(31 * MINUTE);
  await comeToRest(world, order);
  await world.passAndSettle(DAY - 3 * MINUTE, 1);
  expect(await world.stateOf(order)).toBe("late");
  await world.passAndSettle(4 * MINUTE, 1);
  expect(await world.stateOf(order)).toBe("slow");
  await world.deposit(order.address, { usdc: 2_000_000n });
  await world.passAndSettle(2 * HOUR, 8);
  await world.passAndSettle(11 * MINUTE, 4);
  expect(await world.shown(order)).toMatchObject({ refunds: [{ status: "paid" }] });
  // Then it is another day, and sixty.
  await world.passAndSettle(16 * MINUTE, 4);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  expect(await world.stateOf(order)).toBe("late");
  await world.passAndSettle(DAY + MINUTE, 1);
  await world.passAndSettle(61 * DAY, 2);
  expect(await world.stateOf(order)).toBe("closed");
  const calls = counting(world, (call) => isOfPurses(world, call) || isLook(call));
  await world.pass(DAY);
  expect(calls.of("getMultipleAccounts")).toBe(0);
  await world.judge();
});
