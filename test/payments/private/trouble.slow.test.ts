/** What may go wrong between a decision and its landing: refusals, forks, forced attempts, stolen markers, dearer rent. */
// modules: private
import { VersionedTransaction } from "@solana/web3.js";
import { expect } from "vitest";
import { dropping } from "../../kit/odd-endpoints.ts";
import type { AttemptRecord } from "../../../src/payments/frame/tables/attempts.ts";
import { units } from "../../kit/money.ts";
import { lamportsAt } from "./photograph.ts";
import { signAs } from "./sign-as.ts";
import { transfersOf, type Ordered, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";
import {
  freezes,
  gives,
  givesDue,
  hasPrices,
  held,
  isEmpty,
  landsDue,
  looks,
  matters,
  passes,
  repeats,
  resolves,
  settles,
  shows,
  slots,
  expectStory,
  thaws,
  type Step,
  type Story,
  type Told,
} from "./story.ts";

/** The signed bytes of what an order sends of this kind, oldest first. */
async function attemptsOf(
  world: Scene,
  order: Ordered,
  kind: "chunk" | "rest",
): Promise<readonly AttemptRecord[]> {
  const transfers = await transfersOf(world, order, kind);
  return world.storage.attemptsOfAny(transfers.map(({ id }) => id));
}

/** What a force that has every key could still send: the same message once more, over a new blockhash. */
async function forced(world: Scene, order: Ordered, { bytes }: AttemptRecord): Promise<string | null> {
  const { message } = VersionedTransaction.deserialize(bytes);
  const fresh = await world.ledger.buildTransaction({ feePayer: world.sponsor.address, moves: [] });
  message.recentBlockhash = fresh.blockhash;
  const signature = await signAs(world, order, message);
  world.chain.advance(35);
  const [status] = await world.ledger.statuses([signature]);
  return status?.error ?? null;
}

/** Lamports of rent a byte. */
async function perByte({ ledger }: Scene): Promise<bigint> {
  return (await ledger.rentMinimum(0)) / 128n;
}

/** Rent becomes so many tenths of what it was. */
const rent =
  (tenths: bigint): Step =>
  async ({ world }) =>
    world.chain.setRent((tenths * (await perByte(world))) / 10n);

const chunks = ({ world, order }: Story) => attemptsOf(world, order, "chunk");
const PAYEES = Array.from({ length: 8 }, (_, n) => `payee ${n}`);

const STORIES: readonly Told[] = [
  [
    "P29, K1: a second attempt of a payout signed by force is refused by the chain through its marker",
    {},
    givesDue(9_000_000n),
    looks,
    slots(3),
    async (story) => {
      const [attempt] = await chunks(story);
      if (attempt === undefined) throw new Error("a payout is under way");
      expect(await forced(story.world, story.order, attempt)).toMatch(/Custom.*0|AlreadyInUse/);
    },
    settles(10),
    // Ours is the one that counts, so what the force cost is the sponsor's fee and nothing else.
    shows({ status: "completed" }),
  ],
  [
    "E7: nothing is signed anew before the first attempt is proved dead, and then it is paid once",
    {},
    async (story) => {
      const { world, order } = story;
      const lift = world.chain.faults.add(dropping);
      await givesDue()(story);
      await world.service.settled();
      const [first] = await chunks(story);
      for (let block = 0; block < 150; block += 30) {
        await slots(30)(story);
        expect((await chunks(story)).map(({ id }) => id)).toEqual([first?.id]);
      }
      lift();
      world.chain.advance(80);
      await world.passAndSettle(10_000, 10);
      const attempts = await attemptsOf(world, order, "chunk");
      expect(attempts).toHaveLength(2);
      const again = attempts.find(({ id }) => id !== first?.id);
      expect((await story.shown()).recipients[0]?.signature).toBe(again?.id);
    },
    shows({ status: "completed" }),
  ],
  [
    "an attempt that landed while every node called it dead is recognised by its marker, and nothing is paid again",
    {},
    givesDue(),
    looks,
    async (story) => {
      const { world } = story;
      const [attempt] = await chunks(story);
      // From here on the nodes deny every signature, though the bytes are there.
      const lift = world.chain.faults.add(({ method }) => {
        if (method !== "getSignatureStatuses") return undefined;
        const answer = (honest: unknown): object => {
          const { context, value } = honest as { context: unknown; value: readonly unknown[] };
          return { context, value: value.map(() => null) };
        };
        return { kind: "lie", answer };
      });
      for (const count of [35, 200]) await slots(count)(story);
      lift();
      await world.settle(10);
      expect((await chunks(story)).map(({ id }) => id)).toEqual([attempt?.id]);
    },
    shows({ status: "completed" }),
  ],
  [
    "M4: a marker's address that somebody else funded stops nothing: the payment goes through under it",
    {},
    async (story) => {
      const { world, order, who } = story;
      // Anybody can know the address: it follows from the order's.
      const marker = world.ledger.markerOf(order.address as never, "0");
      world.chain.advance(1);
      const cost = await world.ledger.rentMinimum(0);
      await world.pay(who("thief"), marker, cost);
      await givesDue()(story);
      await world.settle(10);
      expect(await chunks(story)).toHaveLength(1);
      // What the thief gave stays there for ever, beside the rent.
      expect(await lamportsAt(world.chain, marker)).toBe(2n * cost);
    },
    shows({ status: "completed" }),
  ],
  [
    "E9, K9: a payout that vanished with a fork after it was confirmed is sent again and finalized once",
    { to: PAYEES, amount: "0.5" },
    givesDue(),
    // The first chunk is final, the second one is on its way.
    passes(1 / 60, 1),
    slots(35),
    async (story) => {
      const { world } = story;
      const fork = world.chain.slot();
      await slots(2)(story);
      await passes(1 / 60, 1)(story);
      await shows({ status: "confirmed" })(story);
      world.chain.rollback(fork - 1);
      world.chain.advance(1);
    },
    shows({ status: "confirmed" }),
    settles(14),
    shows({ status: "completed" }),
    async ({ world, order }) => {
      const events = (await world.storage.notices(order.id)).map(({ event }) =>
        event.replace("transaction.", ""),
      );
      expect(events.toSorted()).toEqual(["completed", "confirmed", "deposit_received", "pending"]);
    },
  ],
  ...(["USDC", "SOL"] as const).map((asset): Told => [
    `E15, K2: rent that nearly doubles between quote and payout strands no ${asset} order`,
    { to: ["newcomer"], asset, amount: "0.5" },
    rent(19n),
    givesDue(),
    settles(12),
    shows({ status: "completed" }),
    isEmpty,
  ]),
  [
    "E15, K2: above twice the order's rent nothing is signed until a person's retry takes the rent of that moment",
    {},
    rent(30n),
    givesDue(),
    passes(5, 6),
    shows({ status: "processing", attention: "waiting_for_funds" }),
    async (story) => expect(await chunks(story)).toEqual([]),
    matters("waiting_for_funds"),
    resolves("retry"),
    settles(12),
    shows({ status: "completed", attention: null }),
    matters(),
    isEmpty,
  ],
  ...(["USDC", "SOL"] as const).flatMap((asset) =>
    [19n, 20n].map((tenths): Told => [
      `C49: rent that rises between a ${asset} order and its refund to ${tenths} tenths is withheld of it, and doubled waits for a person's retry`,
      { asset, amount: "0.5" },
      async (story) => {
        const { world } = story;
        const [before] = await world.held(world.sponsor.address);
        await givesDue(-1n)(story);
        await rent(tenths)(story);
        await passes(31, 8)(story);
        if (tenths === 20n) {
          await repeats(1, matters("waiting_for_funds"), resolves("retry"), passes(1, 8))(story);
        }
        const { refunds } = await story.shown();
        if (asset === "SOL") {
          expect(units(refunds[0]?.cost ?? "0", 9)).toBeGreaterThan(129n * (await perByte(world)));
        }
        expect((await world.held(world.sponsor.address))[0]).toBeGreaterThanOrEqual(before);
      },
      shows({ status: "failed", refunds: [{ asset, status: "paid" }], unreturned: [] }),
      isEmpty,
      matters(),
    ]),
  ),
  [
    "E15: rent that rises between a chunk's reading and its run is read again",
    { asset: "SOL", amount: "0.001" },
    async (story) => {
      const { world } = story;
      const before = await perByte(world);
      let runs = 0;
      world.chain.faults.add(({ method }) => {
        if (method === "simulateTransaction" && runs++ === 0) world.chain.setRent((3n * before) / 2n);
        return undefined;
      });
      await givesDue()(story);
      await passes(2, 10)(story);
      expect(runs).toBeGreaterThan(1);
    },
    shows({ status: "completed" }),
  ],
  [
    "P23: a refund that does not land is tried again, one at a time, is shown all the while, and arrives in the end",
    {},
    givesDue(-1n),
    async (story) => {
      const { world, order } = story;
      // The refusal lands, and nothing after it.
      let refusal: unknown;
      const lift = world.chain.faults.add(({ method, params }) => {
        if (method !== "sendTransaction") return undefined;
        refusal ??= params[0];
        return params[0] === refusal ? undefined : { kind: "drop" };
      });
      await passes(31, 8)(story);
      const rests = () => attemptsOf(world, order, "rest");
      const pending = { refunds: [{ asset: "USDC", status: "pending" }] };
      for (let round = 0; round < 8; round++) {
        await passes(1, 2)(story);
        const { agreed } = await world.ledger.heights("finalized");
        const alive = (await rests()).filter(({ lastValidBlockHeight }) => lastValidBlockHeight >= agreed);
        expect(alive.length).toBeLessThanOrEqual(1);
        await shows({ status: "failed", reason: "INCOMPLETE_DEPOSIT", ...pending })(story);
      }
      expect((await rests()).length).toBeGreaterThan(1);
      expect((await world.held(order.address))[1]).toBe(order.due - 1n);
      lift();
    },
    passes(5, 8),
    shows({ refunds: [{ status: "paid" }] }),
    isEmpty,
  ],
  [
    "P23, K11: a refund that its sender cannot take is held for the operator, visible and not lost, and the order ends",
    {},
    freezes("alice"),
    givesDue(-1n),
    passes(31, 8),
    passes(10, 4),
    shows({ status: "failed", reason: "INCOMPLETE_DEPOSIT", fee: "0", attention: "held" }),
    shows({ unreturned: [{ asset: "USDC", reason: "held" }] }),
    async ({ world, order }) => expect(await attemptsOf(world, order, "rest")).toEqual([]),
    matters("held"),
    thaws("alice"),
    resolves("release"),
    settles(10),
    shows({ refunds: [{ asset: "USDC", status: "paid" }] }),
    isEmpty,
  ],
  [
    "a deposit address whose own account the issuer froze holds its order for the operator instead of trying for ever",
    {},
    landsDue(),
    ({ world }) => world.chain.advance(1),
    freezes("address"),
    settles(4),
    passes(40, 2),
    shows({ status: "processing", attention: "held" }),
    held("address_frozen"),
    thaws("address"),
    resolves("release"),
    passes(2, 10),
    shows({ status: "completed" }),
  ],
  [
    "K11: money in an account that its issuer has frozen is held for the operator, and no dust",
    {},
    givesDue(-1_000_000n),
    freezes("address"),
    passes(31, 8),
    passes(20, 4),
    shows({ status: "failed", attention: "held", unreturned: [{ asset: "USDC", reason: "held" }] }),
    matters("held"),
    thaws("address"),
    resolves("release"),
    repeats(3, passes(11, 6)),
    shows({ refunds: [{ status: "paid" }], unreturned: [] }),
  ],
  [
    "lamports that arrive at a token order's address by mistake, and that its sender's empty wallet cannot hold, are dust on its books",
    { sender: "poor" },
    async ({ world, who }) => {
      await world.openAccount(who("address"), "USDC");
      await world.pay(who("carol"), world.tokenAccountOf(who("address"), "USDC"), 900n);
    },
    givesDue(),
    settles(12),
    shows({ status: "completed", refunds: [] }),
    shows({ unreturned: [{ asset: "SOL", amount: "0.0000009", reason: "dust" }] }),
    isEmpty,
  ],
  [
    "K16: a refund that bears its cost in tokens waits for a price as a matter, and goes once there is one",
    { sender: "newcomer" },
    givesDue(-1_000_000n),
    hasPrices(false),
    passes(31, 8),
    passes(11, 4),
    shows({ status: "processing", reason: "INCOMPLETE_DEPOSIT", attention: "waiting_for_price" }),
    shows({ unreturned: [{ asset: "USDC", reason: "under_way" }] }),
    matters("waiting_for_price"),
    hasPrices(true),
    passes(2, 8),
    shows({ status: "failed", refunds: [{ status: "paid" }], attention: null, unreturned: [] }),
    matters(),
  ],
  [
    "K16: late money of an order that is decided waits for a price as a matter, and is no dust",
    { sender: "newcomer" },
    givesDue(),
    settles(10),
    shows({ status: "completed", unreturned: [] }),
    hasPrices(false),
    gives({ usdc: 9_000_000n }),
    passes(11, 4),
    shows({ attention: "waiting_for_price" }),
    shows({ unreturned: [{ asset: "USDC", amount: "9", reason: "under_way" }] }),
    matters("waiting_for_price"),
    hasPrices(true),
    passes(2, 8),
    isEmpty,
  ],
  [
    "K16: what is not worth its return any more is dust, and nobody looks at it each minute",
    { sender: "newcomer" },
    gives({ usdc: 50_000n }),
    hasPrices(false),
    passes(42, 8),
    hasPrices(true),
    repeats(4, passes(2, 8)),
    shows({ status: "failed", reason: "INCOMPLETE_DEPOSIT" }),
    async (story) => {
      const { world, order } = story;
      const [chunk] = await transfersOf(world, order, "chunk");
      const stepsOf = async (): Promise<number> => (await world.storage.load(chunk?.id ?? ""))?.version ?? 0;
      const before = await stepsOf();
      await repeats(10, passes(6, 2))(story);
      expect((await stepsOf()) - before).toBeLessThan(3);
    },
    // Once more is there it goes at once.
    gives({ usdc: 9_000_000n }),
    repeats(3, passes(6, 8)),
    shows({ refunds: [{ status: "paid" }], unreturned: [] }),
  ],
  [
    "K13: late money of an order that has ended undecided, whose cost the frozen account cannot take, is a matter",
    { sender: "newcomer" },
    passes(31, 8),
    freezes("sponsor"),
    gives({ usdc: 9_000_000n }),
    passes(11, 8),
    matters("purse_frozen"),
    thaws("sponsor"),
    passes(2, 8),
    shows({ refunds: [{ status: "paid" }], unreturned: [] }),
  ],
];

test.for(STORIES)("%s", async ([, given, ...steps], { open }) => expectStory(open, given, steps));
