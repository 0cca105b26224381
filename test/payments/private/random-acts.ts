/** What strangers do at the address of an order, and what operators decide in a hurry: as data, drawn at random. */
import fc from "fast-check";

/** A stranger has no part in any order. */
export type StrangerAct = { readonly order: number } &
  /** Lamports on every marker of the order that is known by now, counted as wrapped SOL where the marker is made. */
  (
    | { readonly does: "wrap on markers"; readonly lamports: number }
    /** Transactions that name the address and give it nothing. */
    | { readonly does: "name"; readonly times: number }
    /** A token account of the address's that is not its associated one, with nothing in it. */
    | { readonly does: "open"; readonly asset: "USDC" | "USDT" }
    /** An account of wrapped SOL in the address's name. */
    | { readonly does: "give wrapped SOL"; readonly lamports: number }
    /** Tokens of a mint that is none of the service's assets. */
    | { readonly does: "give foreign tokens"; readonly units: number }
  );

/** What an operator may do at any moment, and no reason to do it. */
export type OperatorAct =
  | { readonly does: "release"; readonly order: number }
  | { readonly does: "refundTo"; readonly order: number }
  | { readonly does: "writeOff"; readonly order: number }
  | {
      readonly does: "returnTokens";
      readonly order: number;
      readonly mint: "foreign" | "wrapped SOL";
      readonly to: "sender" | "elsewhere";
    }
  /** A wallet's payment by the signature that it was taken with. */
  | { readonly does: "settle"; readonly send: number }
  | { readonly does: "pause" | "resume"; readonly mode: "wallet" | "private" }
  | { readonly does: "suspend"; readonly endpoint: 0 | 1 | 2; readonly minutes: number }
  | { readonly does: "bring back"; readonly endpoint: 0 | 1 | 2 }
  | { readonly does: "lower witnesses"; readonly minutes: number }
  | { readonly does: "restore witnesses" }
  | { readonly does: "reconcile" };

/** Anything that a stranger may do to one of so many orders. */
export const anyStrangerAct = (orders: number): fc.Arbitrary<StrangerAct> => {
  const order = fc.integer({ min: 0, max: orders - 1 });
  const lamports = fc.integer({ min: 1, max: 5_000_000 });
  return fc.oneof(
    fc.record({ order, does: fc.constant("wrap on markers" as const), lamports }),
    fc.record({ order, does: fc.constant("name" as const), times: fc.integer({ min: 1, max: 30 }) }),
    fc.record({ order, does: fc.constant("open" as const), asset: fc.constantFrom("USDC", "USDT") }),
    fc.record({ order, does: fc.constant("give wrapped SOL" as const), lamports }),
    fc.record({ order, does: fc.constant("give foreign tokens" as const), units: lamports }),
  );
};

/** Anything that an operator may do, to one of so many orders where it is about one. */
export const anyOperatorAct = (orders: number): fc.Arbitrary<OperatorAct> => {
  const order = fc.integer({ min: 0, max: orders - 1 });
  const minutes = fc.integer({ min: 1, max: 120 });
  const endpoint = fc.constantFrom<(0 | 1 | 2)[]>(0, 1, 2);
  return fc.oneof(
    { weight: 3, arbitrary: fc.record({ does: fc.constant("release" as const), order }) },
    { weight: 2, arbitrary: fc.record({ does: fc.constant("refundTo" as const), order }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant("writeOff" as const), order }) },
    {
      weight: 3,
      arbitrary: fc.record({
        does: fc.constant("returnTokens" as const),
        order,
        mint: fc.constantFrom("foreign", "wrapped SOL"),
        to: fc.constantFrom("sender", "elsewhere"),
      }),
    },
    { weight: 1, arbitrary: fc.record({ does: fc.constant("settle" as const), send: fc.nat({ max: 2 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        does: fc.constantFrom("pause", "resume"),
        mode: fc.constantFrom("wallet", "private"),
      }),
    },
    { weight: 2, arbitrary: fc.record({ does: fc.constant("suspend" as const), endpoint, minutes }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant("bring back" as const), endpoint }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant("lower witnesses" as const), minutes }) },
    { weight: 1, arbitrary: fc.constant({ does: "restore witnesses" as const }) },
    { weight: 1, arbitrary: fc.constant({ does: "reconcile" as const }) },
  );
};
