/** Screening by amount: what came in must have come from payers who are known by name and served; and those who get it. */
// modules: private
import { describe, expect } from "vitest";
import type { FaultRule } from "../../../src/local/faults.ts";
import { keypairSigner } from "../../../src/ledger/sign-transaction.ts";
import { recorder } from "../../core/recorder.ts";
import { flood } from "../../kit/flood.ts";
import { listsOutside, lyingNode, type LyingNode } from "./lying-nodes.ts";
import { MINUTE, SOL, transfersOf } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";
import {
  asked,
  cancels,
  freezes,
  gives,
  givesDue,
  has,
  held,
  looks,
  matters,
  passes,
  paysIn,
  refuses,
  repeats,
  resolves,
  settles,
  shows,
  stands,
  expectStory,
  thaws,
  type Step,
  type Story,
  type Told,
} from "./story.ts";

/** A node that shows balances and lists no transaction that made them. */
const LISTS_NOTHING: FaultRule = ({ method }) =>
  method === "getSignaturesForAddress" ? { kind: "lie", answer: () => [] } : undefined;

/** Lifts what was told to the nodes. */
const lifts: (() => void)[] = [];
const listsNothing: Step = ({ world }) => void lifts.push(world.chain.faults.add(LISTS_NOTHING));
const listsAll: Step = () => {
  for (const lift of lifts.splice(0)) lift();
};

/** Nothing has moved and nothing moves: the order waits for the operator. Who is unknown is waited for: an hour. */
const waitsForOperator = (amount?: bigint): readonly Step[] => [
  passes(61, 6),
  held("screening"),
  shows({ refunds: [], signatures: [], recipients: [{ status: "pending" }], attention: "held" }),
  async ({ world, order }) => expect((await world.held(order.address))[1]).toBe(amount ?? order.due),
];

const COMPLETES: readonly Step[] = [
  // Who is not known yet is looked for again after some seconds.
  passes(1 / 3, 6),
  settles(6),
  shows({ status: "completed" }),
];

const SCREENED = { screens: true } as const;

const STORIES: readonly Told[] = [
  ...(["SOL", "USDC"] as const).map((asset): Told => [
    `what is left of a deposit of ${asset} is refunded after its payout: our own payments and loans leave nothing unexplained`,
    { ...SCREENED, asset, amount: "1", to: ["newcomer"] },
    paysIn("carol", (due) => (3n * due) / 2n),
    settles(14),
    shows({ status: "completed", refunds: [{ status: "paid" }] }),
    passes(11, 4),
    // Late money is told apart from what was there before.
    paysIn("carol"),
    passes(11, 8),
    shows({ refunds: [{ status: "paid" }, { status: "paid" }] }),
    held(),
    passes(11, 4),
  ]),
  ["M8: money that was made by the issuer has no payer: held", SCREENED, givesDue(), ...waitsForOperator()],
  [
    "a gift of less than the smallest deposit holds nobody's order, whoever made it",
    SCREENED,
    refuses("dave"),
    paysIn("dave", 999n),
    gives({ usdc: 999n }),
    paysIn("carol"),
    settles(4),
    asked("depositor", "dave"),
    settles(12),
    shows({ status: "completed" }),
  ],
  [
    "many gifts of less than the smallest deposit add up: what is refused is judged by its sum",
    SCREENED,
    refuses("dave"),
    paysIn("dave", 500n),
    paysIn("dave", 500n),
    paysIn("carol"),
    passes(61, 6),
    held("screening"),
    shows({ refunds: [], signatures: [] }),
  ],
  [
    "a deposit that a node lists late is waited for without an operator, also where an earlier one was",
    SCREENED,
    cancels,
    ...[1, 2].flatMap((count): readonly Step[] => [
      listsNothing,
      paysIn("carol"),
      settles(8),
      stands("resting"),
      async ({ shown }) => expect((await shown()).refunds).toHaveLength(count - 1),
      listsAll,
      ({ world }) => world.pass(MINUTE),
      settles(4),
      async ({ shown }) => expect((await shown()).refunds).toHaveLength(count),
      ({ world }) => world.pass(11 * MINUTE),
      settles(4),
    ]),
  ],
  [
    "M8, C46: money that no transaction explains is held after an hour, which is a matter, and the payee gets nothing",
    SCREENED,
    listsNothing,
    paysIn("carol"),
    ...waitsForOperator(),
    matters("held"),
    listsAll,
  ],
  [
    "M8: late money that no transaction explains is not refunded, though nothing of it was written down before",
    SCREENED,
    cancels,
    listsNothing,
    paysIn("carol"),
    passes(61, 6),
    held("screening"),
    shows({ status: "cancelled", refunds: [] }),
    listsAll,
  ],
  [
    "C46: a refused wallet that pays too little is held and not refunded to a clean sender; once released its payer stays released",
    SCREENED,
    refuses("dave"),
    paysIn("dave", 2_000_000n),
    ...[31, 11, 61].map((minutes) => passes(minutes, 6)),
    shows({ status: "failed", reason: "INCOMPLETE_DEPOSIT", refunds: [] }),
    shows({ unreturned: [{ amount: "2", reason: "held" }] }),
    held("screening"),
    matters("held"),
    resolves("release"),
    passes(1, 8),
    shows({ refunds: [{ amount: "2", status: "paid" }] }),
    paysIn("carol", 3_000_000n),
    repeats(2, passes(11, 6)),
    held(),
    matters(),
    has("alice", SOL, 5_000_001n),
  ],
  [
    "C32: an order that is declined under a hold is refused at once, and returned once it is released",
    SCREENED,
    refuses("dave"),
    paysIn("dave"),
    passes(1, 6),
    shows({ status: "processing", attention: "held" }),
    resolves("decline"),
    passes(11, 6),
    shows({ status: "failed", reason: "DECLINED", refunds: [] }),
    held("screening"),
    resolves("release"),
    passes(1, 8),
    shows({ refunds: [{ status: "paid" }] }),
    async ({ world, who, order }) => expect((await world.held(who("alice").address))[1]).toBe(order.due + 1n),
  ],
  [
    "M25: many token accounts that strangers opened in the name of an address hold no clean order",
    SCREENED,
    async ({ world, order }) => {
      const { address } = order;
      for (let count = 0; count < 51; count += 1) await world.strayAccount(address, "USDC", 1_000n);
    },
    paysIn("carol"),
    settles(12),
    shows({ status: "completed" }),
  ],
  [
    "a sender who is refused when money is to go back gets nothing until the operator releases it",
    SCREENED,
    cancels,
    refuses("alice"),
    paysIn("carol"),
    passes(1, 6),
    asked("sender", "alice"),
    held("screening"),
    shows({ status: "cancelled", refunds: [] }),
    resolves("release"),
    settles(8),
    shows({ refunds: [{ status: "paid" }] }),
    passes(11, 6),
  ],
  [
    "a recipient who is refused when he is to be paid gets nothing until the operator releases it, which is no word on another",
    { ...SCREENED, to: ["bob", "frank"], amount: "2" },
    refuses("bob"),
    paysIn("carol"),
    passes(61, 4),
    held("screening"),
    asked("recipient", "bob"),
    shows({ signatures: [], recipients: [{ status: "pending" }, { status: "pending" }] }),
    refuses("frank"),
    resolves("release"),
    passes(20, 6),
    held("screening"),
    shows({ signatures: [] }),
    resolves("release"),
    passes(30, 12),
    shows({ status: "completed" }),
  ],
  [
    "a screening that cannot answer is asked again after a deposit until it can",
    SCREENED,
    ({ host }) => void (host.isDown = true),
    paysIn("carol"),
    settles(4),
    shows({ status: "processing", signatures: [] }),
    ({ host }) => void (host.isDown = false),
    passes(2, 10),
    shows({ status: "completed" }),
  ],
  [
    "a refused depositor holds the money: nothing is paid out or back until the operator releases it",
    SCREENED,
    refuses("carol"),
    paysIn("carol"),
    ...waitsForOperator(),
    asked("depositor", "carol"),
    resolves("release"),
    settles(10),
    shows({ status: "completed", attention: null }),
  ],
  [
    "a refused depositor of a cancelled order gets nothing back either, and its owner is not told the reason",
    SCREENED,
    shows({ attention: null, attentionMessage: null }),
    cancels,
    refuses("mallory"),
    ({ world, who, order }) => world.pay(who("mallory"), order.address, SOL),
    passes(1, 6),
    held("screening"),
    shows({ status: "cancelled", refunds: [], unreturned: [{ asset: "SOL", amount: "1", reason: "held" }] }),
    async ({ shown }) => {
      const told = await shown();
      expect(told.attention).toBe("held");
      expect(told.attentionMessage).toMatch(/held until the operator/);
      expect(JSON.stringify(told)).not.toContain("screening");
    },
    resolves("release"),
    settles(8),
    shows({ attention: null, refunds: [{ asset: "SOL", status: "paid" }] }),
    passes(11, 6),
  ],
  [
    "C70: who pays in while an order is held for another reason is asked about once that is released, and is held if he is refused",
    SCREENED,
    cancels,
    refuses("mallory"),
    freezes("alice"),
    paysIn("carol", 2_000_000n),
    passes(5, 6),
    held("sender_frozen"),
    paysIn("mallory", 30_000_000n),
    passes(60, 6),
    thaws("alice"),
    resolves("release"),
    passes(5, 8),
    held("screening"),
    has("address", 0n, 32_000_000n),
    has("alice", SOL, 1n),
    resolves("release"),
    passes(5, 8),
    shows({ refunds: [{ asset: "USDC", status: "paid" }] }),
    passes(11, 6),
  ],
  [
    "C75: while it is not known who gave a part, nobody is asked about the others again and again",
    SCREENED,
    paysIn("carol", (due) => due / 2n),
    // What the issuer makes has no payer.
    ({ world, order }) => world.deposit(order.address, { usdc: order.due - order.due / 2n }),
    passes(59, 2),
    stands("deciding"),
    ({ host, who }) =>
      expect(host.asked.filter((each) => each.includes(who("carol").address))).toHaveLength(1),
    passes(2, 2),
    held("screening"),
    resolves("release"),
    passes(1, 10),
    shows({ status: "completed" }),
    asked("recipient", "bob"),
  ],
  [
    "C76: a payer who holds more lamports than JSON's numbers can tell is known",
    { ...SCREENED, asset: "SOL", amount: "0.1" },
    async ({ world, order }) => {
      const exchange = world.wallet("exchange", { lamports: 2n ** 53n + 10n * SOL });
      world.chain.advance(35);
      await world.pay(exchange, order.address, order.due + 1n);
    },
    passes(1, 10),
    shows({ status: "completed" }),
    async ({ host, shown }) => {
      const [came] = (await shown()).received ?? [];
      expect(host.asked).toContain(`depositor ${came?.payer} after`);
    },
  ],
  [
    "who served depositors are is asked of the right ones: neither our sponsor nor the address itself",
    SCREENED,
    paysIn("carol", (due) => due + 3_000_000n),
    settles(10),
    shows({ status: "completed", refunds: [{ status: "paid" }] }),
    ({ host, who, world, order }) => {
      const all = host.asked.filter((each) => each.startsWith("depositor")).join(" ");
      expect(all).toContain(who("carol").address);
      for (const own of [world.sponsor.address, order.address]) expect(all).not.toContain(own);
    },
  ],
];

test.for(STORIES)("%s", async ([, given, ...steps], { open }) => expectStory(open, given, steps));

test.for([35, 400])(
  "C46: of a deposit in two parts a node lists the later one first, %i slots apart: nobody is needed",
  async (slots, { open }) => {
    const nodes: LyingNode[] = [];
    const ledger: Parameters<typeof open>[2] = ({ chain, ledgerOf }) => {
      nodes.push(lyingNode(chain, "node"));
      return ledgerOf(nodes.map(({ endpoint }) => endpoint));
    };
    const hidden = { from: 0, to: Infinity };
    const ends: (() => void)[] = [];
    await expectStory(open, { ...SCREENED, ledger }, [
      ({ world, who }) => world.openAccount(who("address"), "USDC"),
      ({ world }) => {
        hidden.from = world.chain.slot();
        ends.push(...nodes.map((node) => node.tell(listsOutside(hidden))));
      },
      paysIn("carol", 1_000_000n),
      ({ world }) => world.chain.advance(slots),
      settles(2),
      ({ world }) => void (hidden.to = world.chain.slot()),
      paysIn("carol", (due) => due - 1_000_000n),
      ({ world }) => world.chain.advance(35),
      ({ world }) => world.pass(MINUTE),
      shows({ status: "processing" }),
      () => {
        for (const end of ends) end();
      },
      repeats(7, passes(10, 2)),
      held(),
      shows({ status: "completed" }),
    ]);
  },
);

test.for([
  [1_000n, "screening"],
  [999n, null],
] as const)(
  "C32: %s units of a refused wallet between two chunks keep no recipient from being paid, and the rest is held: %s",
  async ([amount, hold], { open }) => {
    const to = Array.from({ length: 8 }, (_, index) => `payee ${index}`);
    await expectStory(open, { ...SCREENED, to, amount: "0.5" }, [
      refuses("dave"),
      paysIn("carol", (due) => due + 2_000_000n),
      // The go is final with what comes now.
      async ({ world, order }) =>
        expect(await transfersOf(world, order, "chunk")).toMatchObject([{ n: 0, state: "out" }]),
      paysIn("dave", amount),
      repeats(3, passes(1, 6)),
      shows({ status: "completed" }),
      held(...(hold === null ? [] : [hold])),
      async ({ shown }) => expect((await shown()).refunds).toHaveLength(hold === null ? 1 : 0),
    ]);
  },
);

describe("M25: transactions that only name a deposit address", () => {
  const account = ({ world, who }: Story): string => world.tokenAccountOf(who("address"), "USDC");
  const floods =
    (count: number): Step =>
    async (story) => {
      const { world, order, who } = story;
      for (const address of [order.address, account(story)]) {
        await flood(world, who("mallory"), { address, count: count / 2 });
      }
    };

  test.for([100, 1_000])("hold no clean order: %i of them", async (count, { open }) => {
    await expectStory(open, SCREENED, [
      floods(count / 2),
      paysIn("carol"),
      floods(count / 2),
      ({ world }) => world.pass(MINUTE),
      ...COMPLETES,
      asked("depositor", "carol"),
    ]);
  });

  test("hide no refused depositor", async ({ open }) => {
    await expectStory(open, SCREENED, [refuses("dave"), paysIn("dave"), floods(200), ...waitsForOperator()]);
  });

  test("cost a bounded number of calls a look, and hold nothing before the search is at its end", async ({
    open,
  }) => {
    await expectStory(open, SCREENED, [
      async (story) => {
        const { world, who } = story;
        const { chain } = world;
        await flood(world, who("mallory"), { address: account(story), count: 100 });
        const call = { jsonrpc: "2.0", id: 1, method: "getSignaturesForAddress", params: [account(story)] };
        const answer = await chain.fetch("http://local", { body: JSON.stringify(call) });
        const { result } = (await answer.json()) as { result: unknown[] };
        // How many pages each look asks for: the list of the account never ends, each page is the same.
        const pages: number[] = [];
        const lift = chain.faults.add(({ method, params }) => {
          const { before } = (params[1] ?? {}) as { before?: string };
          if (method !== "getSignaturesForAddress" || params[0] !== account(story)) return undefined;
          if (before === undefined) pages.push(0);
          pages.push((pages.pop() ?? 0) + 1);
          return { kind: "lie", answer: () => result };
        });
        await paysIn("carol")(story);
        for (let time = 0; time < 3; time += 1) {
          world.clock.advance(3 * MINUTE);
          await looks(story);
        }
        expect(pages.length).toBeGreaterThan(1);
        expect(Math.max(...pages)).toBeLessThanOrEqual(1_000);
        await held()(story);
        await shows({ status: "processing", signatures: [] })(story);
        lift();
        await world.pass(2 * MINUTE);
      },
      ...COMPLETES,
      asked("depositor", "carol"),
    ]);
  });
});

test("a start warns of a sponsor with too little, naming what is missing, and of a treasury that does not exist", async ({
  open,
}) => {
  const { logger, lines } = recorder();
  const world = await open();
  await world.service.stop();
  const [poor, nobody] = [world.wallet("poor sponsor", { lamports: 1_000_000n }), world.wallet("nobody", {})];
  const prices = { rate: async () => ({ give: 1n, get: 1n }) };
  const privateRouting = { sponsor: keypairSigner(poor.secretKey), treasury: nobody.address, prices };
  const service = world.another({ logger, privateRouting });
  await service.start();
  await service.stop();
  const warned = lines.filter(({ level }) => level === "warn");
  expect(warned.map(({ message }) => message)).toEqual([
    "token accounts of the sponsor are missing: what is due to it in these tokens is left out",
    "the sponsor of private mode has too little for so many sends at once",
    "the treasury of private mode is no wallet on the chain: fees that are due to it wait until it is one",
    // Of the treasury, in both tokens.
    ...Array<string>(2).fill(
      "a token account of private mode is missing: make it, or what is due to it in this asset is left out",
    ),
  ]);
  const missing = expect.stringMatching(/^\d+\.\d+$/) as string;
  expect(warned[1]?.fields).toMatchObject({ sponsor: poor.address, missing });
});
