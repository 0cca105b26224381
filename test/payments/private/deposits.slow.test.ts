/** What becomes of money at a deposit address: enough, too little, too much, too late, or something else altogether. */
// modules: private
import { expect } from "vitest";
import { associatedTokenAddress } from "../../../src/local/funding.ts";
import { units } from "../../kit/money.ts";
import { lamportsAt } from "./photograph.ts";
import { MINUTE, orderedAs, SOL, transfersOf } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";
import {
  cancels,
  cannotCancel,
  gives,
  givesDue,
  has,
  isEmpty,
  landsDue,
  looks,
  passes,
  repeats,
  settles,
  shows,
  slots,
  expectStory,
  type Step,
  type Story,
  type Told,
} from "./story.ts";

/** Turns the clock until it has ended: the tries of a call that fails are pauses of the clock. */
async function turning({ world }: Story, ending: Promise<unknown>): Promise<void> {
  let isOver = false;
  const ended = ending.finally(() => (isOver = true));
  while (!isOver) {
    world.clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await ended;
}

/** Nothing was bought or signed for it: no marker, no chunk, no matter. */
const isUntouched: Step = async ({ world, order }) => {
  const marker = await lamportsAt(world.chain, world.ledger.markerOf(order.address as never, "0"));
  const view = await world.storage.orderedTransaction(order.id);
  expect([marker, view?.order?.chunks.map(({ length }) => length)]).toEqual([0n, [null]]);
  expect(await world.service.operator.attention()).toEqual([]);
};

const landings = async ({ world, order }: Story): Promise<readonly number[]> =>
  (await transfersOf(world, order, "rest")).flatMap(({ landedAt }) => landedAt ?? []);

const STORIES: readonly Told[] = [
  [
    "P7: too little waits and shows what is missing, to the last unit; a second deposit completes it",
    {},
    givesDue(-1n),
    shows({ status: "pending", remainingAmount: "0.000001", received: [{ asset: "USDC", counted: true }] }),
    gives({ usdc: 3_000_001n }),
    shows({ remainingAmount: "0", received: [{}, {}] }),
    settles(10),
    shows({ status: "completed" }),
  ],
  [
    "L5: an address is stored with its token accounts, so that no later look derives them",
    {},
    async ({ world, order: { id, address } }) => {
      const { USDC, USDT } = world.mints;
      expect((await world.storage.order(id))?.accounts).toEqual({
        [USDC]: associatedTokenAddress(address, USDC),
        [USDT]: associatedTokenAddress(address, USDT),
      });
    },
  ],
  [
    "P10: what comes after the end is refunded and never routed",
    {},
    passes(31),
    givesDue(),
    settles(10),
    shows({ status: "failed", reason: "DEPOSIT_TIMEOUT", refunds: [{ status: "paid" }] }),
  ],
  [
    "R10: the rest closes an empty token account for the sponsor, and the fee is not kept again from a late deposit",
    {},
    ({ world, who }) => world.openAccount(who("address"), "USDT"),
    givesDue(),
    settles(10),
    passes(11, 4),
    async ({ world, order, shown }) => {
      const owner = order.address as never;
      const account = world.ledger.tokenAccountStates([{ owner, mint: world.mints.USDT }]);
      expect(await account).toEqual(["absent"]);
      const [lamports, fee] = await world.held(world.treasury.address);
      expect(lamports).toBe(SOL);
      await world.deposit(order.address, { usdc: 2_000_000n });
      await world.settle(10);
      const { refunds } = await shown();
      expect(units(refunds[0]?.amount ?? "0", 6) + fee).toBeGreaterThan(2_000_000n);
    },
  ],
  [
    "P26: the owner's lamports and all its associated accounts are looked at in one reading",
    {},
    ({ world, order: { address, due } }) =>
      world.deposit(address, { lamports: 20_000_000n, usdt: 2_000_000n, usdc: due + 2_000_000n }),
    settles(8),
    repeats(3, passes(11, 6)),
    async ({ shown }) => {
      const { refunds } = await shown();
      const words = refunds.map(({ asset, status }) => `${asset} ${status}`);
      expect(words.toSorted()).toEqual(["SOL paid", "USDC paid", "USDT paid"]);
    },
  ],
  [
    "C22: a deposit below the cost of saying no stays as dust, and no marker is bought of it; once more is there all of it goes back",
    { asset: "SOL", amount: "0.5" },
    async (story) => {
      const { world, order } = story;
      const [sponsored] = await world.held(world.sponsor.address);
      await world.deposit(order.address, { lamports: 900_000n });
      await world.passAndSettle(31 * MINUTE, 8);
      const dust = [{ asset: "SOL", amount: "0.0009", reason: "dust" }];
      const failed = { status: "failed", reason: "INCOMPLETE_DEPOSIT", fee: "0", refunds: [] };
      expect(await story.shown()).toMatchObject({ ...failed, unreturned: dust });
      await isUntouched(story);
      await has("sponsor", sponsored)(story);
      await world.deposit(order.address, { lamports: 100_000n });
      await world.passAndSettle(11 * MINUTE, 8);
      expect((await world.held(world.sponsor.address))[0]).toBeGreaterThanOrEqual(sponsored);
    },
    shows({ status: "failed", refunds: [{ status: "paid" }], unreturned: [] }),
  ],
  [
    "C35: a part of a SOL deposit that lies as lamports on the address's token account funds nothing, and comes back at the window's end",
    { asset: "SOL", amount: "0.5" },
    async ({ world, who }) => {
      await world.openAccount(who("address"), "USDC");
      await world.pay(who("carol"), world.tokenAccountOf(who("address"), "USDC"), 4_000_000n);
    },
    givesDue(-4_000_000n),
    settles(4),
    shows({ status: "pending" }),
    passes(31, 8),
    shows({ status: "failed", reason: "INCOMPLETE_DEPOSIT", recipients: [{ status: "unpaid" }] }),
    shows({ refunds: [{ asset: "SOL", status: "paid" }], unreturned: [] }),
    async ({ shown, order }) =>
      expect(units((await shown()).refunds[0]?.amount ?? "0", 9)).toBeGreaterThan(order.due - 1_000_000n),
  ],
  [
    "P3: a deposit at processed already refuses the cancellation, and routing waits until it is finalized",
    {},
    landsDue(),
    looks,
    cannotCancel("ALREADY_PROCESSED", { currentStatus: "pending", reason: "deposit_detected" }),
    slots(31),
    shows({ status: "pending", signatures: [] }),
    slots(2),
    shows({ status: "processing" }),
    settles(10),
    shows({ status: "completed" }),
  ],
  [
    "P3: what was seen on its way and vanished with its fork is no deposit: the window closes on nothing",
    {},
    async (story) => {
      const { chain } = story.world;
      const fork = chain.slot();
      chain.advance(1);
      await landsDue()(story);
      await cannotCancel("ALREADY_PROCESSED", {})(story);
      chain.rollback(fork);
    },
    passes(31),
    shows({ status: "failed", reason: "DEPOSIT_TIMEOUT", fee: "0" }),
  ],
  [
    "P5: while the chain cannot be read DELETE is an upstream failure and changes nothing",
    {},
    async (story) => {
      const { world, order } = story;
      const lift = world.chain.faults.add(() => ({ kind: "refuse", status: 503 }));
      const cancelled = world.service.cancelTransaction(world.customer, order.id);
      const ended = cancelled.catch((error: unknown) => error);
      await turning(story, ended);
      expect(await ended).toMatchObject({ name: "LedgerUnavailable" });
      lift();
      expect(await story.shown()).toMatchObject({ status: "pending", cancelledAt: null });
      // A look that began during the outage still pauses before its next try.
      await turning(story, world.service.settled());
    },
    givesDue(),
    settles(10),
    shows({ status: "completed" }),
  ],
  ["P15: dust does not keep an order from being cancelled", {}, gives({ usdc: 999n }), cancels, settles(3)],
  [
    "refunds are counted from finalized money only: what could still vanish is not in them",
    {},
    cancels,
    async ({ world, order }) => {
      world.chain.fund(order.address, { usdc: 2_000_000n });
      world.chain.advance(20);
      world.chain.fund(order.address, { usdc: 7_000_000n });
    },
    slots(15),
    looks,
    shows({ received: [{ amount: "2" }] }),
    repeats(3, passes(11, 8)),
    shows({ unreturned: [] }),
    isEmpty,
  ],
  [
    "refunds hold back what they cost, and the sponsor has it: it is not refunded in turn",
    { sender: "newcomer" },
    cancels,
    gives({ usdc: 9_000_000n }),
    repeats(3, passes(11, 8)),
    async ({ world, shown }) => {
      const [refund, ...others] = (await shown()).refunds;
      expect(others).toEqual([]);
      const [refunded, withheld] = [units(refund?.amount ?? "", 6), units(refund?.cost ?? "", 6)];
      expect(refunded + withheld).toBe(9_000_000n);
      // An account of its own, which the refund makes and charges for.
      expect(withheld).toBeGreaterThan(100_000n);
      expect((await world.held(world.sponsor.address))[1]).toBe(withheld);
    },
  ],
  [
    "K14: refunds are ten minutes apart, to the second",
    {},
    cancels,
    gives({ usdc: 2_000_000n }),
    settles(8),
    async (story) => {
      const { world, order } = story;
      const [first = 0] = await landings(story);
      expect(first).toBeGreaterThan(0);
      await world.deposit(order.address, { usdc: 3_000_000n });
      await world.pass(first + 10 * MINUTE - 1_000 - world.clock.now());
      await world.settle(4);
      expect(await landings(story)).toHaveLength(1);
    },
    passes(2, 4),
    async (story) => expect(await landings(story)).toHaveLength(2),
  ],
  [
    "what came is settled by readings that show the last refund: nothing is sent by what is gone",
    {},
    cancels,
    async ({ world, order }) => {
      // The node tells of the accounts what it told first, in the block in which it told it.
      const told = new Map<string, unknown>();
      let isStale = false;
      world.chain.faults.add(({ method, params }) => {
        const asked = JSON.stringify(params[0]);
        if (method !== "getMultipleAccounts" || !asked.includes(order.address)) return undefined;
        const answer = (honest: unknown): unknown => {
          if (!isStale) told.set(asked, honest);
          return told.get(asked) ?? honest;
        };
        return { kind: "lie", answer };
      });
      await world.deposit(order.address, { usdc: 9_000_000n });
      await world.settle(3);
      isStale = true;
      await world.settle(4);
      await world.pass(11 * MINUTE);
      isStale = false;
    },
    repeats(2, passes(11, 4)),
    shows({ refunds: [{ status: "paid" }], unreturned: [] }),
  ],
];

test.for(STORIES)("%s", async ([, given, ...steps], { open }) => expectStory(open, given, steps));

test("E4: of two private orders of one quote at once exactly one is taken", async ({ open }) => {
  const world = await open();
  const { service, customer, alice, bob } = world;
  const recipients = [{ address: bob.address, amount: "5" }];
  const asked = { inputAsset: "USDC", outputAsset: "USDC", amount: "5", mode: "private" } as const;
  const { body: quote } = await service.createQuote(customer, { ...asked, recipients });
  const order = { type: "send", mode: "private", quoteId: quote.quoteId, sender: alice.address } as const;
  const answers = await Promise.allSettled(
    ["one", "two"].map((reference) =>
      service.createTransaction(customer, { ...order, recipients: [...recipients], reference }),
    ),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const refused = answers.find((each) => each.status === "rejected");
  expect(refused?.reason).toMatchObject({ code: "INVALID_QUOTE", details: { reason: "used" } });
  expect(await world.storage.reservations(`sponsor ${world.sponsor.address}`)).toHaveLength(1);
});

test("each recipient of a payroll goes from pending to paid, and who cannot be paid ends as unpaid", async ({
  open,
}) => {
  const world = await open();
  const carol = world.wallet("carol", { usdc: 1n });
  const to = [world.bob, carol].map(({ address }) => ({ address, amount: "2" }));
  const order = orderedAs((await world.order(world.customer, { sender: world.alice, to })).body);
  const seen: (readonly string[])[] = [];
  const look = async (): Promise<void> => {
    const { status, recipients } = await world.shown(order);
    seen.push([status, ...recipients.map((each) => each.status)]);
  };
  await look();
  await world.freeze(carol, "USDC");
  await world.deposit(order.address, { usdc: order.due });
  for (let round = 0; round < 60; round++) {
    await look();
    world.chain.advance(round % 3 === 0 ? 2 : 12);
    await world.service.settled();
  }
  await world.settle(10);
  await look();
  const words = seen.map((each) => each.join(" "));
  expect(words[0]).toBe("pending pending pending");
  expect(words).toContain("processing pending pending");
  expect(words.at(-1)).toBe("failed paid unpaid");
  // No word goes back.
  const rank = ["pending", "confirmed", "paid", "unpaid"];
  for (const place of [1, 2]) {
    const ranks = seen.map((each) => rank.indexOf(each[place] ?? ""));
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
  }
  await world.judge();
});

test("C78: a page of orders that got thousands of deposits ends earlier, and the next one goes on", async ({
  open,
}) => {
  const world = await open();
  for (const { id } of [await world.sendTo(), await world.sendTo()]) {
    const same = { order: id, mint: world.mints.USDC, amount: 1_000n, payer: null };
    const none = { decimals: null, account: null, leftAt: null };
    const came = Array.from({ length: 1_500 }, (_, n) => {
      return { ...same, ...none, id: `${id}:${n}`, signature: `${n}`, slot: n, at: n };
    });
    await world.storage.commit([{ writes: came.map((insert) => ({ table: "deposits" as const, insert })) }]);
  }
  const first = await world.service.listTransactions(world.customer);
  expect([first.data.length, first.hasMore]).toEqual([1, true]);
  const startingAfter = first.data[0]?.transactionId ?? "";
  const next = await world.service.listTransactions(world.customer, { startingAfter });
  expect([next.data.length, next.hasMore]).toEqual([1, false]);
});
