/** A life of a payment service as data, drawn at random: its nodes, its orders, and everything that happens to them. */
import fc from "fast-check";
import { type ToldLie, anyToldLie } from "./random-lies.ts";
import {
  anyOperatorAct,
  anyStrangerAct,
  anyTheftAct,
  type OperatorAct,
  type StrangerAct,
  type TheftAct,
} from "./random-acts.ts";

/** In the order of the token list. */
export const ASSETS = ["SOL", "USDC", "USDT"] as const;
export type Asset = (typeof ASSETS)[number];

/** An order, whom it pays and to whom refunds go. */
export interface OrderWords {
  readonly asset: Asset;
  readonly payees: readonly {
    /** Base units of the stablecoins; a thousand times as many lamports. */
    readonly amount: number;
    /** `new`: there is nothing at its address. `bad`: its token account is frozen as soon as the order is taken. */
    readonly kind: "open" | "new" | "bad";
  }[];
  readonly sender: "open" | "withoutTokens" | "frozen";
}

/** A payment that its sender signs. */
export interface SendWords {
  readonly asset: Asset;
  /** As in `OrderWords`. */
  readonly amount: number;
  /** Whether its sender also sends the same message under another signature, past the service. */
  readonly isSignedAgain: boolean;
  /** Whether the transaction is one of version 1. */
  readonly isVersion1: boolean;
}

/** How much is deposited, of what an order asks for. `rest` is what is still missing. */
export type HowMuch = "exact" | "under" | "over" | "rest" | "dust" | "least";

/** Who pays in: so many payers, in equal parts; one to a token account that is not the associated one; one who is refused. */
export type PaidBy = 1 | 2 | 3 | "stray" | "refused";

/** What happens. */
export type Happening =
  | {
      readonly does: "deposit";
      readonly order: number;
      readonly howMuch: HowMuch;
      /** 0 is what is asked for; the others are the two assets that are not. */
      readonly asset: 0 | 1 | 2;
      readonly by: PaidBy;
    }
  | { readonly does: "send"; readonly words: SendWords }
  | { readonly does: "cancel"; readonly order: number }
  /** The issuer freezes the account of a payee or of the sender, or thaws it again. */
  | { readonly does: "freeze" | "thaw"; readonly order: number; readonly payee: number | "sender" }
  /** Time passes, and with it some slots: seconds, minutes, the pause between refunds, a window, a day. */
  | { readonly does: "pass"; readonly minutes: 0.3 | 3 | 11 | 31 | 1_500 }
  /** Slots pass, and hardly any time. */
  | { readonly does: "slots"; readonly count: number }
  /** The process is killed at this call from now on, and the next one at the same call from its start, and so on. */
  | {
      readonly does: "die";
      readonly call: number;
      readonly moment: "before" | "after";
      readonly deaths: 1 | 2;
    }
  /** The database is replaced by what it was so many commits ago. */
  | { readonly does: "restore"; readonly commitsAgo: number; readonly isReconciledFirst: boolean }
  /** A second process begins on a copy of the database as it was so many commits ago, and works beside the first. */
  | { readonly does: "copy"; readonly commitsAgo: number }
  /** The process stands still at its next signature, as a virtual machine that is set aside; the next one goes on. */
  | { readonly does: "set aside" }
  /** The one that was set aside goes on with its memory, and with its database as it was then, beside the others. */
  | { readonly does: "resume" }
  /** All processes end but the first. */
  | { readonly does: "end copies" }
  /** The machine's clock is so many minutes off the chain's. */
  | { readonly does: "clock"; readonly minutes: -600 | -31 | 0 | 31 | 600 }
  /** Storage on the chain costs so many quarters of what it cost in the beginning. */
  | { readonly does: "rent"; readonly quarters: 2 | 4 | 8 | 12 }
  /** From now on these lies are told and no others; none are, when there are none. */
  | { readonly does: "lie"; readonly lies: readonly ToldLie[] }
  /** No node has any history from before so many slots ago, until somebody looks for what is missing. */
  | { readonly does: "prune"; readonly slots: number }
  | { readonly does: "stranger"; readonly act: StrangerAct }
  | { readonly does: "theft"; readonly act: TheftAct }
  | { readonly does: "operator"; readonly act: OperatorAct };

/** Who of the endpoints lies: nobody, the one of this number, or all of them. */
export type Liars = "nobody" | 0 | 1 | 2 | "all";

export interface Life {
  readonly endpoints: 1 | 2 | 3;
  readonly liars: Liars;
  /** Whether the host refuses anybody. */
  readonly screens: boolean;
  /** How many people it takes to send money elsewhere. */
  readonly approvals: 1 | 2;
  readonly orders: readonly (OrderWords | "swap")[];
  readonly happenings: readonly Happening[];
}

const MAX_ORDERS = 4;
const MAX_PAYEES = 12;
const MAX_HAPPENINGS = 14;
/** A send's payout and what follows from it are made in about so many calls. */
const MAX_CALLS = 150;
/** As many commits as a whole send with a refund. */
const MAX_COMMITS = 60;

const anyAmount = fc.oneof(
  fc.integer({ min: 1_000, max: 3_000 }),
  fc.integer({ min: 1_000, max: 9_000_000 }),
);

const payee = fc.record({
  amount: anyAmount,
  kind: fc.oneof(
    { weight: 6, arbitrary: fc.constant("open" as const) },
    { weight: 4, arbitrary: fc.constant("new" as const) },
    { weight: 1, arbitrary: fc.constant("bad" as const) },
  ),
});

const anyOrder: fc.Arbitrary<OrderWords> = fc.record({
  asset: fc.constantFrom(...ASSETS),
  payees: fc.oneof(
    { weight: 3, arbitrary: fc.array(payee, { minLength: 1, maxLength: 1 }) },
    { weight: 2, arbitrary: fc.array(payee, { minLength: 2, maxLength: MAX_PAYEES }) },
  ),
  sender: fc.oneof(
    { weight: 6, arbitrary: fc.constant("open" as const) },
    { weight: 3, arbitrary: fc.constant("withoutTokens" as const) },
    { weight: 1, arbitrary: fc.constant("frozen" as const) },
  ),
});

const anySend: fc.Arbitrary<SendWords> = fc.record({
  asset: fc.constantFrom(...ASSETS),
  amount: anyAmount.map((amount) => amount + 1_000),
  isSignedAgain: fc.boolean(),
  isVersion1: fc.boolean(),
});

type OfKind<Does extends Happening["does"]> = fc.Arbitrary<Extract<Happening, { does: Does }>>;

const pass: OfKind<"pass"> = fc
  .constantFrom<(0.3 | 3 | 11 | 31 | 1_500)[]>(0.3, 0.3, 3, 11, 31, 1_500)
  .map((minutes) => ({ does: "pass", minutes }));
const slots: OfKind<"slots"> = fc.integer({ min: 1, max: 40 }).map((count) => ({ does: "slots", count }));
const send: OfKind<"send"> = anySend.map((words) => ({ does: "send", words }));
const die: OfKind<"die"> = fc.record({
  does: fc.constant("die"),
  call: fc.oneof(fc.integer({ min: 1, max: 15 }), fc.integer({ min: 1, max: MAX_CALLS })),
  moment: fc.constantFrom("before", "after"),
  deaths: fc.constantFrom<(1 | 2)[]>(1, 1, 2),
});
const commitsAgo = fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: MAX_COMMITS }));
const restore: OfKind<"restore"> = fc.record({
  does: fc.constant("restore"),
  commitsAgo,
  isReconciledFirst: fc.boolean(),
});
const copy: OfKind<"copy"> = commitsAgo.map((ago) => ({ does: "copy", commitsAgo: ago }));
const clock: OfKind<"clock"> = fc
  .constantFrom<(-600 | -31 | 0 | 31 | 600)[]>(-600, -31, 0, 31, 600)
  .map((minutes) => ({ does: "clock", minutes }));
const rent: OfKind<"rent"> = fc
  .constantFrom<(2 | 4 | 8 | 12)[]>(2, 4, 8, 12)
  .map((quarters) => ({ does: "rent", quarters }));
const lie: OfKind<"lie"> = fc
  .array(anyToldLie, { minLength: 1, maxLength: 4 })
  .map((lies) => ({ does: "lie", lies }));
const truth: OfKind<"lie"> = fc.constant({ does: "lie", lies: [] });
const prune: OfKind<"prune"> = fc
  .integer({ min: 0, max: 300 })
  .map((count) => ({ does: "prune", slots: count }));

/** What may happen to one of so many orders, by its weight. */
type Chances = (orders: number) => readonly fc.WeightedArbitrary<Happening>[];

/** What customers, payers and machines do. */
const daily: Chances = (orders) => {
  const order = fc.integer({ min: 0, max: orders - 1 });
  const deposit: OfKind<"deposit"> = fc.record({
    does: fc.constant("deposit"),
    order,
    howMuch: fc.constantFrom<HowMuch[]>("exact", "exact", "under", "over", "rest", "dust", "least"),
    asset: fc.constantFrom<(0 | 1 | 2)[]>(0, 0, 0, 1, 2),
    by: fc.constantFrom<PaidBy[]>(1, 1, 2, 3, "stray", "refused"),
  });
  return [
    { weight: 16, arbitrary: deposit },
    { weight: 12, arbitrary: pass },
    { weight: 8, arbitrary: slots },
    { weight: 4, arbitrary: send },
    { weight: 2, arbitrary: order.map((each) => ({ does: "cancel", order: each })) },
    { weight: 6, arbitrary: die },
  ];
};

/** What costs somebody: a dearer chain, a lost or doubled database, strangers, issuers and operators. */
const troubled: Chances = (orders) => [
  { weight: 3, arbitrary: restore },
  { weight: 3, arbitrary: copy },
  { weight: 3, arbitrary: fc.constantFrom("set aside", "resume").map((does) => ({ does })) },
  { weight: 1, arbitrary: fc.constant({ does: "end copies" }) },
  { weight: 2, arbitrary: clock },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constantFrom("freeze", "freeze", "thaw"),
      order: fc.integer({ min: 0, max: orders - 1 }),
      payee: fc.oneof(fc.nat({ max: 3 }), fc.constant("sender" as const)),
    }),
  },
  { weight: 2, arbitrary: rent },
  { weight: 1, arbitrary: prune },
  { weight: 3, arbitrary: anyTheftAct(orders).map((act) => ({ does: "theft", act })) },
  { weight: 8, arbitrary: anyStrangerAct(orders).map((act) => ({ does: "stranger", act })) },
  { weight: 6, arbitrary: anyOperatorAct(orders).map((act) => ({ does: "operator", act })) },
];

/** What pure chance seldom brings about: an order is served, lost or doubled, and paid for once more. */
const paidOnceMore = (orders: number): fc.Arbitrary<readonly Happening[]> =>
  fc
    .record({
      order: fc.integer({ min: 0, max: orders - 1 }),
      before: fc.constantFrom<readonly Happening[]>([], [{ does: "set aside" }]),
      minutes: fc.constantFrom<(0.3 | 3 | 11)[]>(0.3, 3, 11),
      pruned: fc.option(prune),
      after: fc.oneof<fc.Arbitrary<Happening>[]>(restore, copy, fc.constant({ does: "resume" })),
    })
    .map(({ order, before, minutes, pruned, after }) => {
      const paid = { does: "deposit", order, howMuch: "exact", asset: 0, by: 1 } as const;
      const served = [paid, { does: "pass", minutes }, { does: "pass", minutes }] as const;
      return [...before, ...served, ...(pruned === null ? [] : [pruned]), after, ...served];
    });

/** The nodes of a life, and what may happen in it. */
interface Circumstances {
  readonly nodes: fc.Arbitrary<Pick<Life, "endpoints" | "liars">>;
  readonly chances: Chances;
  /** What comes before and after the first deposits. */
  readonly prelude: (orders: number) => fc.Arbitrary<readonly Happening[]>;
}

/** Each order is paid for, most of them with enough to pay everybody twice; the rest is chance. */
function anyLife({ nodes, chances, prelude }: Circumstances): fc.Arbitrary<Life> {
  const orders = fc.array(
    fc.oneof({ weight: 4, arbitrary: anyOrder }, { weight: 1, arbitrary: fc.constant("swap" as const) }),
    { minLength: 1, maxLength: MAX_ORDERS },
  );
  return orders.chain((all) => {
    const happening = fc.oneof(
      { weight: 60, arbitrary: fc.oneof(...chances(all.length)).map((each) => [each]) },
      { weight: 5, arbitrary: paidOnceMore(all.length) },
    );
    return fc
      .record({
        nodes,
        screens: fc.boolean(),
        approvals: fc.constantFrom<(1 | 2)[]>(1, 2),
        first: prelude(all.length),
        later: fc.array(happening, { minLength: 2, maxLength: MAX_HAPPENINGS }),
      })
      .map(({ nodes: { endpoints, liars }, screens, approvals, first, later }) => {
        return { endpoints, liars, screens, approvals, orders: all, happenings: [...first, ...later.flat()] };
      });
  });
}

/** Every order is paid for in the beginning. */
const allPaid = (orders: number): fc.Arbitrary<readonly Happening[]> =>
  fc.tuple(
    ...Array.from({ length: orders }, (_, order) =>
      fc
        .constantFrom<("exact" | "over")[]>("exact", "over", "over")
        .map((howMuch): Happening => ({ does: "deposit", order, howMuch, asset: 0, by: 1 })),
    ),
  );

const paidUnderLies = (orders: number): fc.Arbitrary<readonly Happening[]> =>
  fc
    .tuple(fc.array(lie, { maxLength: 1 }), allPaid(orders), lie)
    .map(([before, paid, after]) => [...before, ...paid, after]);

/** Nobody lies. */
export const anyHonestLife: fc.Arbitrary<Life> = anyLife({
  nodes: fc.record({ endpoints: fc.constantFrom<(1 | 2)[]>(1, 2), liars: fc.constant("nobody") }),
  chances: (orders) => [...daily(orders), ...troubled(orders)],
  prelude: () => fc.constant([]),
});

/** One of two or three endpoints lies. */
export const anyLifeUnderOneLiar: fc.Arbitrary<Life> = anyLife({
  nodes: fc
    .record({ endpoints: fc.constantFrom<(2 | 3)[]>(2, 3), liar: fc.constantFrom<(0 | 1 | 2)[]>(0, 1, 2) })
    .map(({ endpoints, liar }) => ({ endpoints, liars: liar < endpoints ? liar : 0 })),
  chances: (orders) => [
    ...daily(orders),
    ...troubled(orders),
    { weight: 12, arbitrary: lie },
    { weight: 2, arbitrary: truth },
  ],
  prelude: paidUnderLies,
});

/** All endpoints lie together for a time. */
export const anyLifeUnderLiars: fc.Arbitrary<Life> = anyLife({
  nodes: fc.record({ endpoints: fc.constantFrom<(2 | 3)[]>(2, 3), liars: fc.constant("all") }),
  chances: (orders) => [...daily(orders), { weight: 30, arbitrary: lie }, { weight: 3, arbitrary: truth }],
  prelude: paidUnderLies,
});
