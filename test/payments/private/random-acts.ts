/** What strangers and thieves do at the address of an order, and what operators decide in a hurry: as data, drawn at random. */
import fc from "fast-check";

/** A stranger has no part in any order. */
export type StrangerAct = { readonly order: number } &
  /** Lamports on every marker of the order, whether it stands or not. */
  (
    | { readonly does: "give to markers"; readonly lamports: number }
    /** So little that it is in the way: a lamport or so on the address, or on its account of an asset. */
    | {
        readonly does: "give dust";
        readonly units: number;
        readonly on: "address" | "USDC" | "USDT" | "account of USDC";
      }
    /** Transactions that name the address and give it nothing. */
    | { readonly does: "name"; readonly times: number }
    /** A token account of the address's that is not its associated one, with nothing in it. */
    | { readonly does: "open"; readonly asset: "USDC" | "USDT" }
    /** An account of wrapped SOL in the address's name. */
    | { readonly does: "give wrapped SOL"; readonly lamports: number }
    /** Tokens of a mint that is none of the service's assets. */
    | { readonly does: "give foreign tokens"; readonly units: number }
  );

/** What somebody does who has got hold of the key of an order's address. */
export type TheftAct = { readonly order: number } /** All of an asset that is there, or half of it. */ & (
  | { readonly does: "sweep"; readonly asset: 0 | 1 | 2; readonly part: 1 | 2 }
  /** The marker of a chunk, with nobody paid. */
  | { readonly does: "forge"; readonly chunk: 0 | 1; readonly length: 0 | 1 | 3 }
);

/** What an operator may do at any moment, and no reason to do it. */
export type OperatorAct =
  | {
      readonly does: "hold" | "release" | "retry" | "decline" | "conclude" | "collect";
      readonly order: number;
    }
  | { readonly does: "foreclose"; readonly order: number; readonly chunk: number }
  | { readonly does: "refundTo"; readonly order: number; readonly asset: 0 | 1 | 2 }
  | { readonly does: "foreign"; readonly order: number; readonly to: "sender" | "elsewhere" }
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
    fc.record({ order, does: fc.constant("give to markers" as const), lamports }),
    fc.record({
      order,
      does: fc.constant("give dust" as const),
      units: fc.integer({ min: 1, max: 3 }),
      on: fc.constantFrom("address", "USDC", "USDT", "account of USDC"),
    }),
    fc.record({ order, does: fc.constant("name" as const), times: fc.integer({ min: 1, max: 30 }) }),
    fc.record({ order, does: fc.constant("open" as const), asset: fc.constantFrom("USDC", "USDT") }),
    fc.record({ order, does: fc.constant("give wrapped SOL" as const), lamports }),
    fc.record({ order, does: fc.constant("give foreign tokens" as const), units: lamports }),
  );
};

/** Anything that a thief may do to one of so many orders. */
export const anyTheftAct = (orders: number): fc.Arbitrary<TheftAct> => {
  const order = fc.integer({ min: 0, max: orders - 1 });
  return fc.oneof(
    fc.record({
      order,
      does: fc.constant("sweep" as const),
      asset: fc.constantFrom<(0 | 1 | 2)[]>(0, 0, 1, 2),
      part: fc.constantFrom<(1 | 2)[]>(1, 2),
    }),
    fc.record({
      order,
      does: fc.constant("forge" as const),
      chunk: fc.constantFrom<(0 | 1)[]>(0, 0, 1),
      length: fc.constantFrom<(0 | 1 | 3)[]>(0, 1, 3),
    }),
  );
};

/** Anything that an operator may do, to one of so many orders where it is about one. */
export const anyOperatorAct = (orders: number): fc.Arbitrary<OperatorAct> => {
  const order = fc.integer({ min: 0, max: orders - 1 });
  const minutes = fc.integer({ min: 1, max: 120 });
  const endpoint = fc.constantFrom<(0 | 1 | 2)[]>(0, 1, 2);
  const asset = fc.constantFrom<(0 | 1 | 2)[]>(0, 0, 1, 2);
  const act = <D extends OperatorAct["does"]>(does: D) => fc.constant(does);
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        does: fc.constantFrom("hold", "release", "retry", "decline", "conclude", "collect"),
        order,
      }),
    },
    { weight: 2, arbitrary: fc.record({ does: act("foreclose"), order, chunk: fc.constantFrom(1, 1, 2) }) },
    { weight: 3, arbitrary: fc.record({ does: act("refundTo"), order, asset }) },
    {
      weight: 2,
      arbitrary: fc.record({ does: act("foreign"), order, to: fc.constantFrom("sender", "elsewhere") }),
    },
    { weight: 1, arbitrary: fc.record({ does: act("settle"), send: fc.nat({ max: 2 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        does: fc.constantFrom("pause", "resume"),
        mode: fc.constantFrom("wallet", "private"),
      }),
    },
    { weight: 2, arbitrary: fc.record({ does: act("suspend"), endpoint, minutes }) },
    { weight: 1, arbitrary: fc.record({ does: act("bring back"), endpoint }) },
    { weight: 1, arbitrary: fc.record({ does: act("lower witnesses"), minutes }) },
    { weight: 1, arbitrary: fc.constant({ does: "restore witnesses" as const }) },
    { weight: 1, arbitrary: fc.constant({ does: "reconcile" as const }) },
  );
};
