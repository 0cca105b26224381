/** What becomes of orders of private mode, on the real programs: each ends with its address at nothing. */
// modules: private
import { expect } from "vitest";
import { agreed } from "../../../src/ledger/agreed.ts";
import type { OrderFault } from "../../../src/ledger/order-fault.ts";
import { BY } from "../../kit/by.ts";
import { SOL } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";
import {
  begin,
  cancels,
  cannotCancel,
  gives,
  givesDue,
  has,
  isEmpty,
  landsDue,
  passes,
  received,
  settles,
  shows,
  expectStory,
  type Told,
} from "./story.ts";

const people = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `payee ${n}`);

const STORIES: readonly Told[] = [
  [
    "P18, P24: a private send pays its recipient exactly, and keeps the fee that was quoted",
    {},
    shows({ status: "pending", mode: "private" }),
    givesDue(),
    settles(),
    shows({ status: "completed", refunds: [], unreturned: [], recipients: [{ status: "paid" }] }),
    async ({ world, order }) => {
      const [, earned] = await world.held(world.treasury.address);
      expect(earned).toBe(order.due - 5_000_000n);
    },
    has("bob", SOL, 5_000_000n, 0n),
  ],
  [
    "a send of SOL pays its recipient, lends and takes the loan back",
    { asset: "SOL", amount: "0.5" },
    givesDue(),
    settles(),
    shows({ status: "completed", refunds: [] }),
    has("bob", SOL + SOL / 2n),
    isEmpty,
  ],
  [
    "K6: a payroll of several chunks pays everybody, the later chunks after the go",
    { to: people(15), amount: "1" },
    givesDue(),
    settles(10),
    shows({ status: "completed", unreturned: [] }),
  ],
  [
    "P6: an order that nobody has paid is cancelled, and money that comes later goes back and counts nothing",
    {},
    cancels,
    shows({ status: "cancelled", recipients: [{ status: "unpaid", signature: null }] }),
    givesDue(),
    settles(10),
    shows({ status: "cancelled", fee: "0", refunds: [{ asset: "USDC", status: "paid" }], unreturned: [] }),
    async (story) => {
      const { depositAmount = "", remainingAmount } = await story.shown();
      expect(remainingAmount).toBe(depositAmount);
      await received(["USDC", depositAmount, false])(story);
    },
  ],
  [
    "P4, K17: DELETE reads the chain itself and finds a deposit that no watch has seen",
    {},
    landsDue(),
    cannotCancel("ALREADY_PROCESSED", { reason: "deposit_detected", currentStatus: "pending" }),
    settles(10),
    shows({ status: "completed" }),
    cannotCancel("CANNOT_CANCEL", { currentStatus: "completed", allowedStatuses: ["pending"] }),
  ],
  [
    "P7: too little until the window is over is refused on the chain, and goes back",
    {},
    givesDue(-1n),
    passes(31, 10),
    shows({ status: "failed", reason: "INCOMPLETE_DEPOSIT", fee: "0", unreturned: [] }),
    shows({ refunds: [{ asset: "USDC", status: "paid" }] }),
    // The token account of bob's, who is not paid, is made by nobody.
    has("bob", SOL, 0n),
  ],
  [
    "without a deposit the window ends the order",
    {},
    passes(31),
    shows({ status: "failed", reason: "DEPOSIT_TIMEOUT", fee: "0", refunds: [] }),
  ],
  [
    "P8: what is above the deposit goes back, once the recipients are paid",
    {},
    givesDue(7_000_000n),
    settles(10),
    shows({ status: "completed", refunds: [{ status: "paid" }], unreturned: [] }),
    has("bob", SOL, 5_000_000n),
  ],
  [
    "P12: money of another asset is shown, does not count and goes back once the order is over, as late money does",
    {},
    gives({ usdt: 7_000_000n }),
    settles(4),
    received(["USDT", "7", false]),
    passes(31, 8),
    shows({ status: "failed", reason: "DEPOSIT_TIMEOUT", fee: "0" }),
    shows({ refunds: [{ asset: "USDT", status: "paid" }] }),
    givesDue(),
    passes(11, 8),
    async (story) => {
      const { depositAmount = "", remainingAmount } = await story.shown();
      expect(remainingAmount).toBe(depositAmount);
      await received(["USDT", "7", false], ["USDC", depositAmount, false])(story);
    },
    shows({ status: "failed", unreturned: [] }),
  ],
];

test.for(STORIES)("%s", async ([, given, ...steps], { open }) => expectStory(open, given, steps));

test("K8: recipients whom a person gives up are not paid, though their chunk was to be signed, and their shares go back", async ({
  open,
}) => {
  const { world, order, shown } = await begin(open, { to: people(8), amount: "1" });
  const { service, ledger } = world;
  const { tryOrder } = ledger;
  let isBarred = true;
  const barred: typeof tryOrder = async (plan, unsigned) => {
    const [marker] = plan.moves;
    if (!isBarred || marker?.does !== "buy" || marker.seed !== "1") return tryOrder(plan, unsigned);
    return agreed<OrderFault>({ at: null, account: null, error: "other", text: "{}" });
  };
  Object.assign(ledger, { tryOrder: barred });
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(3);
  const versionOf = async () => (await world.storage.order(order.id))?.version ?? 0;
  const before = await versionOf();
  await service.operator.resolve(order.id, { action: "foreclose", chunk: 1 }, BY);
  // What its transfer concludes from an older look, such as whom to leave out, is refused.
  expect(await versionOf()).toBeGreaterThan(before);
  isBarred = false;
  await world.settle(10);

  const { status, reason, recipients, refunds } = await shown();
  expect({ status, reason }).toEqual({ status: "failed", reason: "PARTIAL_PAYOUT" });
  expect(recipients.map((each) => each.status)).toEqual([
    ...Array.from({ length: 6 }, () => "paid"),
    ...["unpaid", "unpaid"],
  ]);
  expect(refunds).toMatchObject([{ status: "paid" }]);
  await world.judge();
});
