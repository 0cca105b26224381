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
import {
  gives,
  givesDue,
  isEmpty,
  landsDue,
  looks,
  passes,
  paysIn,
  repeats,
  settles,
  shows,
  stands,
  expectStory,
  type Told,
} from "./story.ts";

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

async function depositsOf({ storage }: Scene, { id }: Ordered): Promise<readonly DepositRecord[]> {
  return (await storage.orderedTransaction(id))?.order?.deposits ?? [];
}

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

const lookedAt = (world: Scene): ReturnType<typeof counting> =>
  counting(world, (call) => isOfPurses(world, call) || isLook(call));

const STORIES: readonly Told[] = [
  [
    "P9: two payers are summed, each counted once, however often the chain is looked at",
    {},
    paysIn("carol", 3_000_000n),
    repeats(40, looks),
    paysIn("dave", 3_000_000n),
    repeats(40, looks),
    settles(10),
    shows({ status: "completed", refunds: [{ asset: "USDC", status: "paid" }] }),
    async ({ world, order }) => {
      const received = (await depositsOf(world, order)).filter(({ mint }) => mint === world.mints.USDC);
      expect(received.reduce((sum, { amount }) => sum + amount, 0n)).toBe(6_000_000n);
    },
  ],
  [
    "P14: a deposit that failed on the chain is none",
    {},
    async ({ world, order, who }) => {
      const [carol, mint] = [who("carol"), new PublicKey(world.mints.USDC)];
      await world.openAccount(who("address"), "USDC");
      const [from, to] = [carol, who("address")].map(
        (owner) => new PublicKey(world.tokenAccountOf(owner, "USDC")),
      );
      if (from === undefined || to === undefined) throw new Error("both have accounts");
      const by = new PublicKey(carol.address);
      const transfer = createTransferCheckedInstruction(from, mint, to, by, 60_000_000n, 6);
      const text = await signed(world, { signers: [carol], instructions: [transfer] });
      await world.ledger.broadcast(Buffer.from(text, "base64")).catch(() => undefined);
      await world.settle(4);
      expect(await depositsOf(world, order)).toEqual([]);
    },
    shows({ status: "pending" }),
    passes(31),
    shows({ status: "failed", reason: "DEPOSIT_TIMEOUT" }),
  ],
  [
    "P15: a hundred dust transactions change no status, write nothing and cost no call of their own",
    {},
    gives({ usdc: 1n }),
    async ({ world, order }) => {
      const before = await steps(world, order);
      const calls = counting(world);
      for (let index = 0; index < 98; index++) await world.deposit(order.address, { usdc: 1n });
      expect(await steps(world, order)).toBe(before);
      expect(await depositsOf(world, order)).toEqual([]);
      // One look each; nobody asks what the transactions were.
      expect(calls.of("getSignaturesForAddress") + calls.of("getTransaction")).toBe(0);
      expect(calls.total()).toBeLessThan(300);
    },
    shows({ status: "pending" }),
    // It is not lost: the deposit that makes it whole is counted together with it.
    givesDue(-99n),
    settles(10),
    shows({ status: "completed", refunds: [], unreturned: [] }),
    async ({ world, order }) => {
      const deposits = await depositsOf(world, order);
      expect(deposits.reduce((sum, { amount }) => sum + amount, 0n)).toBe(order.due);
    },
  ],
  [
    "P15: dust after the end changes no status, and goes back when it is found, while its account's rent pays for that",
    {},
    passes(31),
    async ({ world, order, shown }) => {
      const [before] = await world.held(world.sponsor.address);
      for (let times = 0; times < 40; times++) {
        await world.deposit(order.address, { usdc: 3n });
        await world.pass(MINUTE);
      }
      await world.passAndSettle(DAY, 4);
      await world.passAndSettle(3 * HOUR, 4);
      const { refunds } = await shown();
      expect(refunds.length).toBeGreaterThan(0);
      // At most one in ten minutes.
      expect(refunds.length).toBeLessThanOrEqual(5);
      const [after] = await world.held(world.sponsor.address);
      expect(after).toBeGreaterThanOrEqual(before);
    },
    shows({ status: "failed", reason: "DEPOSIT_TIMEOUT", unreturned: [] }),
    isEmpty,
  ],
  [
    "P25: with every websocket dead for an hour polling completes the order",
    {},
    ({ world }) =>
      world.chain.faults.add(({ transport }) => (transport === "websocket" ? { kind: "hang" } : undefined)),
    givesDue(),
    settles(10),
    shows({ status: "completed" }),
  ],
  [
    "P25: an hour without any node in the middle of the payout changes no status, and then it completes",
    {},
    givesDue(),
    shows({ status: "processing" }),
    ({ world }) => outage(world, HOUR),
    shows({ status: "processing" }),
    passes(2, 12),
    shows({ status: "completed" }),
  ],
  [
    "P30: a deposit in the last second of the window counts, though no node answers until long after it",
    {},
    ({ world }) => world.pass(30 * MINUTE - 1_000),
    landsDue(),
    ({ world }) => outage(world, 20 * MINUTE),
    ({ world }) => world.chain.advance(35),
    settles(10),
    shows({ status: "completed" }),
  ],
  [
    "P30: the window does not close by our clock, but by a finalized block's that is past it, and whatever that shows counts",
    {},
    // No slot passes: the newest finalized block is still from before.
    ({ world }) => world.clock.advance(31 * MINUTE),
    looks,
    shows({ status: "pending" }),
    landsDue(),
    ({ world }) => world.chain.advance(35),
    settles(10),
    shows({ status: "completed" }),
  ],
  [
    "P10: late money is refunded at most once in ten minutes, whoever sends it how often",
    {},
    passes(31),
    repeats(5, gives({ usdc: 1_000_000n }), passes(1, 4)),
    async ({ shown }) => expect((await shown()).refunds.length).toBe(1),
    passes(11, 6),
    shows({ refunds: [{ status: "paid" }, { status: "paid" }] }),
    passes(11, 6),
    isEmpty,
  ],
  [
    "for fifteen minutes after its order an address is looked at as closely as before, and late money is refunded at once",
    {},
    passes(31),
    stands("recent"),
    ({ world }) => world.pass(10 * MINUTE),
    async (story) => {
      const now = story.world.clock.now();
      await gives({ usdc: 1_000_000n })(story);
      await settles(4)(story);
      expect(story.world.clock.now()).toBe(now);
    },
    shows({ refunds: [{ asset: "USDC", status: "paid" }], unreturned: [] }),
  ],
  [
    "an address whose order is over costs one call in five minutes, and late money is still found and refunded",
    {},
    passes(31),
    passes(16, 1),
    stands("late"),
    async ({ world, order }) => {
      const live = async (minutes: number): Promise<void> => {
        for (let minute = 0; minute < minutes; minute++) {
          world.clock.advance(MINUTE);
          for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
        }
      };
      await live(5);
      const calls = lookedAt(world);
      await live(60);
      expect(calls.of("getMultipleAccounts")).toBe(12);
      expect(calls.total()).toBe(12);
      world.chain.fund(order.address, { lamports: SOL });
      world.chain.advance(35);
      // Six looks at the most, and one more that the refund takes.
      await live(35);
      await world.settle(4);
    },
    shows({ refunds: [{ asset: "SOL", status: "paid" }] }),
    passes(11, 4),
  ],
  [
    "R21: an address is watched for a day after the last thing that happened, for sixty in the slow lane, then by reconcile alone, and money goes back from each",
    {},
    passes(31),
    passes(16, 1),
    stands("late"),
    passes(24 * 60 - 3, 1),
    stands("late"),
    passes(4, 1),
    stands("slow"),
    gives({ usdc: 2_000_000n }),
    passes(120, 8),
    passes(11, 4),
    shows({ refunds: [{ status: "paid" }] }),
    // Then it is another day, and sixty.
    passes(16, 4),
    isEmpty,
    stands("late"),
    passes(24 * 60 + 1, 1),
    passes(61 * 24 * 60, 2),
    stands("closed"),
    async ({ world, order, shown }) => {
      const calls = lookedAt(world);
      await world.pass(DAY);
      expect(calls.of("getMultipleAccounts")).toBe(0);
      await world.deposit(order.address, { usdc: order.due });
      await world.passAndSettle(DAY, 2);
      expect((await shown()).refunds).toHaveLength(1);
      expect(await world.service.reconcile()).toMatchObject({ isExplained: true });
    },
    settles(8),
    passes(11, 4),
    shows({ status: "failed", refunds: [{ status: "paid" }, { asset: "USDC", status: "paid" }] }),
  ],
];

test.for(STORIES)("%s", async ([, given, ...story], { open }) => expectStory(open, given, story));

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
