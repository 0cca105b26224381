/** A life of private mode as data, drawn at random: the orders, and everything that happens to them. */
import fc from "fast-check";

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

/** How much is deposited, of what an order asks for. `rest` is what is still missing. */
export type HowMuch = "exact" | "under" | "over" | "rest" | "dust" | "least";

/** What happens. */
export type Happening =
  | {
      readonly does: "deposit";
      readonly order: number;
      readonly howMuch: HowMuch;
      /** 0 is what is asked for; the others are the two assets that are not. */
      readonly asset: 0 | 1 | 2;
      /** By so many payers, in equal parts; or by one, to a token account that is not the associated one. */
      readonly by: 1 | 2 | 3 | "stray";
    }
  | { readonly does: "cancel"; readonly order: number }
  /** Time passes, and with it some slots: seconds, the pause between looks at strays, between refunds, a window, a lane. */
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
  /** Storage on the chain costs so many quarters of what it cost in the beginning. */
  | { readonly does: "rent"; readonly quarters: 2 | 4 | 8 | 12 };

export interface Life {
  readonly orders: readonly OrderWords[];
  readonly happenings: readonly Happening[];
}

const MAX_ORDERS = 4;
const MAX_PAYEES = 12;
const MAX_HAPPENINGS = 14;
/** A send's payout and what follows from it are made in about so many calls. */
const MAX_CALLS = 150;
/** As many commits as a whole send with a refund. */
const MAX_COMMITS = 60;

const payee = fc.record({
  amount: fc.oneof(fc.integer({ min: 1_000, max: 3_000 }), fc.integer({ min: 1_000, max: 9_000_000 })),
  kind: fc.oneof(
    { weight: 6, arbitrary: fc.constant("open" as const) },
    { weight: 4, arbitrary: fc.constant("new" as const) },
    { weight: 1, arbitrary: fc.constant("bad" as const) },
  ),
});

/** Any send or payroll. */
export const anyOrder: fc.Arbitrary<OrderWords> = fc.record({
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

/** Anything that may happen to one of so many orders. */
export const anyHappening = (orders: number): fc.Arbitrary<Happening> => {
  const which = fc.integer({ min: 0, max: orders - 1 });
  const deposit = fc.record({
    does: fc.constant("deposit" as const),
    order: which,
    howMuch: fc.constantFrom<HowMuch[]>("exact", "exact", "under", "over", "rest", "dust", "least"),
    asset: fc.constantFrom<(0 | 1 | 2)[]>(0, 0, 0, 1, 2),
    by: fc.constantFrom<(1 | 2 | 3 | "stray")[]>(1, 1, 2, 3, "stray"),
  });
  const pass = fc.constantFrom<(0.3 | 3 | 11 | 31 | 1_500)[]>(0.3, 0.3, 3, 11, 31, 1_500);
  const die = fc.record({
    does: fc.constant("die" as const),
    call: fc.oneof(fc.integer({ min: 1, max: 15 }), fc.integer({ min: 1, max: MAX_CALLS })),
    moment: fc.constantFrom("before" as const, "after" as const),
    deaths: fc.constantFrom<(1 | 2)[]>(1, 1, 2),
  });
  const restore = fc.record({
    does: fc.constant("restore" as const),
    commitsAgo: fc.integer({ min: 1, max: MAX_COMMITS }),
    isReconciledFirst: fc.boolean(),
  });
  return fc.oneof(
    { weight: 8, arbitrary: deposit },
    { weight: 6, arbitrary: pass.map((minutes) => ({ does: "pass" as const, minutes })) },
    {
      weight: 4,
      arbitrary: fc.integer({ min: 1, max: 40 }).map((count) => ({ does: "slots" as const, count })),
    },
    { weight: 1, arbitrary: which.map((each) => ({ does: "cancel" as const, order: each })) },
    { weight: 3, arbitrary: die },
    { weight: 1, arbitrary: restore },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom<(2 | 4 | 8 | 12)[]>(2, 4, 8, 12)
        .map((quarters) => ({ does: "rent" as const, quarters })),
    },
  );
};

/** What pure chance seldom brings about: an order is served, forgotten by its database, and paid for once more. */
const forgottenAfterwards = (orders: number): fc.Arbitrary<readonly Happening[]> =>
  fc
    .record({
      order: fc.integer({ min: 0, max: orders - 1 }),
      commitsAgo: fc.integer({ min: 1, max: MAX_COMMITS }),
      isReconciledFirst: fc.boolean(),
      minutes: fc.constantFrom<(0.3 | 3 | 11)[]>(0.3, 3, 11),
    })
    .map(({ order: which, commitsAgo, isReconciledFirst, minutes }) => {
      const paid = { does: "deposit", order: which, howMuch: "exact", asset: 0, by: 1 } as const;
      const served = [paid, { does: "pass", minutes }, { does: "pass", minutes }] as const;
      return [...served, { does: "restore", commitsAgo, isReconciledFirst }, ...served] as const;
    });

/** Any life at all. */
export const anyLife: fc.Arbitrary<Life> = fc
  .array(anyOrder, { minLength: 1, maxLength: MAX_ORDERS })
  .chain((orders) =>
    fc.record({
      orders: fc.constant(orders),
      happenings: fc
        .array(
          fc.oneof(
            { weight: 40, arbitrary: anyHappening(orders.length).map((each) => [each]) },
            { weight: 1, arbitrary: forgottenAfterwards(orders.length) },
          ),
          { minLength: 1, maxLength: MAX_HAPPENINGS },
        )
        .map((stories) => stories.flat()),
    }),
  );
