/** K13, K16: what is left of an order is shared out between its sender and the sponsor, and nobody gets more than his. */
// modules: private
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TokenAccountTold } from "../../../../src/ledger/order-reading.ts";
import { ASSERTED_AGAIN, isDisturbed, isOfDust } from "../../../../src/payments/private/dust.ts";
import {
  legsOfRest,
  planRest,
  type Rest,
  type RestPlan,
} from "../../../../src/payments/private/protocol/rest.ts";
import type { AttemptRecord } from "../../../../src/payments/frame/tables/attempts.ts";
import type { TransferRecord } from "../../../../src/payments/private/tables.ts";
import { runsOf } from "../../../kit/thorough.ts";
import {
  FEE,
  LOAN,
  ORDER,
  RATE,
  rent,
  SENDER,
  SOL_MINT,
  SPONSOR,
  termsOf,
  USDC,
  viewOf,
  type Seen,
  type Shown,
  type Wallet,
} from "./order.ts";

/** What a test says of a rest. */
interface Left extends Partial<Seen> {
  readonly order?: Wallet;
  readonly sender?: Wallet;
  readonly sponsor?: Wallet;
  readonly loan?: bigint;
  readonly charge?: bigint;
  readonly way?: "asserted" | "bare";
  readonly withoutToken?: boolean;
}

const RICH: Wallet = { lamports: 9_000_000_000n, usdc: 0n, usdt: 0n };

/** A rest of USDC and lamports to a sender with an account and SOL. */
function planned({ order, sender = RICH, sponsor = RICH, ...left }: Left): RestPlan {
  const { loan = 0n, charge = FEE, way = "asserted", withoutToken = false, ...seen } = left;
  const shown: Shown = {
    ...(order === undefined ? {} : { order }),
    wallets: { [SENDER]: sender, [SPONSOR]: sponsor },
  };
  const view = viewOf({ shown: [shown], ...seen });
  const token = withoutToken ? null : { mint: USDC, decimals: 6 };
  const [told] = view.look.reading.told;
  if (told === undefined) throw new Error("nothing is shown");
  return planRest(view, { told, token, way, loan, charge });
}

function rest(left: Left): Rest {
  const plan = planned(left);
  if (plan.kind !== "rest") throw new Error(`expected a rest, not ${plan.kind}`);
  return plan;
}
const sums = (left: Left) => {
  const { token, lamports } = rest(left);
  return { tokens: [token?.toSender, token?.toSponsor], lamports: [lamports.toSender, lamports.toSponsor] };
};
const R165 = rent(165);
const REFUSED = rent(1) + 2n * FEE;
const account = (amount: bigint, told: Partial<TokenAccountTold> = {}): TokenAccountTold => ({
  amount,
  lamports: R165,
  state: "usable",
  ...told,
});

describe("K13: an asserted rest", () => {
  test("K13: gives the sender his tokens, and the sponsor the rent of the account that bore the cost", () => {
    expect(sums({ order: { usdc: 5_000_000n }, charge: REFUSED })).toEqual({
      tokens: [5_000_000n, 0n],
      lamports: [0n, R165],
    });
  });

  test("K13: withholds what making his account costs, at the price of now", () => {
    const sender = { lamports: 9_000_000n };
    const left = { order: { usdc: 5_000_000n }, charge: REFUSED, sender };
    expect(sums(left).tokens).toEqual([5_000_000n - 917_840n / 5n, 917_840n / 5n]);
    expect(rest(left).token?.accountPayer).toBe(SPONSOR);
    expect(rest({ ...left, sender: RICH }).token?.accountPayer).toBe(ORDER);
  });

  test("K13: an account that its credit pays for is the sponsor's to make", () => {
    const left = { order: { usdc: 5_000_000n }, charge: 0n, sender: {}, rentPerByte: RATE / 2n };
    expect(rest(left).token).toMatchObject({ toSponsor: 0n, accountPayer: SPONSOR });
  });

  test("K13: SOL bears its own cost, and the loan comes back", () => {
    const left = { terms: termsOf({ mint: SOL_MINT }), withoutToken: true, loan: LOAN };
    expect(sums({ ...left, order: { lamports: LOAN }, charge: 0n }).lamports).toEqual([0n, LOAN]);
    expect(sums({ ...left, order: { lamports: LOAN + 50_000n } }).lamports).toEqual([40_000n, LOAN + FEE]);
  });

  test("K13: it ends with the assertion that nothing is left, and names every sum", () => {
    const left = {
      order: { usdc: 5_000_000n, lamports: 70n },
      charge: REFUSED,
      sender: { lamports: 9_000_000n },
    };
    expect(legsOfRest(termsOf(), rest(left)).map(({ role, move }) => [role, move.does])).toEqual([
      ["sender", "transfer"],
      ["cost", "transfer"],
      ["close", "close"],
      ["sender", "transfer"],
      ["cost", "transfer"],
      ["empty", "empty"],
    ]);
  });

  test("K13: an empty account of the order's is closed, its rent the sponsor's", () => {
    const closed = rest({ order: { usdc: 0n } });
    expect(closed).toMatchObject({ token: { toSender: 0n, toSponsor: 0n }, back: R165 });
    expect(legsOfRest(termsOf(), closed).map(({ role }) => role)).toEqual(["close", "cost", "empty"]);
  });

  test("K13: the rent of an account comes back at the order's rate, never more than lies on it", () => {
    expect(rest({ order: { usdc: account(0n, { lamports: R165 + 5n }) } })).toMatchObject({
      lamports: { toSender: 5n, toSponsor: R165 },
    });
    expect(rest({ order: { usdc: account(0n, { lamports: 9n }) } }).lamports.toSponsor).toBe(9n);
  });

  test("K13: is not made while the loan itself is not whole", () => {
    const left = { terms: termsOf({ mint: SOL_MINT }), withoutToken: true, loan: LOAN };
    expect(planned({ ...left, order: { lamports: LOAN - 1n } }).kind).toBe("not_worth");
  });
});

describe("K13: a bare rest", () => {
  const bare = { way: "bare", charge: REFUSED } as const;
  test("K13: says so if the sponsor's account cannot take its cost, and withholds nothing then", () => {
    const left = { ...bare, order: { usdc: 5_000_000n }, sender: RICH };
    expect(rest(left)).toMatchObject({ isCostLeftOut: false, token: { toSender: 5_000_000n - 183_568n } });
    const sponsor = { lamports: 9_000_000_000n };
    expect(rest({ ...left, sponsor })).toMatchObject({
      isCostLeftOut: true,
      token: { toSender: 5_000_000n },
    });
    const asserted = { ...left, sponsor, way: "asserted" } as const;
    expect(rest(asserted).isCostLeftOut).toBe(false);
  });

  test("K13: bears its whole cost, closes nothing and asserts nothing", () => {
    const left = { ...bare, order: { usdc: 5_000_000n }, sender: {} };
    const cost = (REFUSED + R165) / 5n;
    expect(sums(left)).toEqual({ tokens: [5_000_000n - cost, cost], lamports: [0n, 0n] });
    expect(legsOfRest(termsOf(), rest(left)).map(({ role }) => role)).toEqual(["sender", "cost"]);
  });

  test.for([
    ["rent(0)", 0n, rent(0)],
    ["the loan", LOAN, LOAN],
  ] as const)("K13: SOL leaves %s", ([, loan, left]) => {
    const order = { lamports: 9_000_000n };
    const told = { ...bare, terms: termsOf({ mint: SOL_MINT }), withoutToken: true, loan, order };
    expect(sums(told).lamports).toEqual([9_000_000n - left - REFUSED, REFUSED]);
    expect(rest(told).back).toBe(0n);
  });

  test("K13: is not made if it is not worth its cost", () => {
    expect(planned({ ...bare, order: { usdc: 100n } }).kind).toBe("not_worth");
  });

  test("K13: while the address may pay for an account, the loan steps aside: a creation would spend it", () => {
    const terms = termsOf({ mint: SOL_MINT });
    const left = { ...bare, terms, loan: LOAN, order: { lamports: LOAN, usdc: 5_000_000n } };
    expect(legsOfRest(terms, rest(left)).map(({ role }) => role)).toEqual(["loan", "sender", "cost", "loan"]);
    const [aside, , , loan] = legsOfRest(terms, rest(left)).map(({ move }) => move);
    expect(aside).toMatchObject({ from: ORDER, to: SPONSOR, amount: LOAN, mint: null });
    expect(loan).toMatchObject({ from: SPONSOR, to: ORDER, amount: LOAN, mint: null });
    expect(rest({ ...left, sender: { lamports: 9_000_000n } }).aside).toBe(0n);
  });
});

describe("K16: what is not covered is withheld", () => {
  test("K16: tokens worth less than their cost, one whole at most, are the sponsor's if rent comes back", () => {
    const left = { charge: 3_000_000n, sender: {} };
    expect(sums({ ...left, order: { usdc: 9n } }).tokens).toEqual([0n, 9n]);
    expect(planned({ ...left, order: { usdc: 1_000_001n }, lamportsAUnit: 1n }).kind).toBe("not_worth");
    expect(sums({ ...left, order: { usdc: 1_000_000n }, lamportsAUnit: 1n }).tokens).toEqual([
      0n,
      1_000_000n,
    ]);
  });

  test("K16: lamports that would leave him below rent(0) stay, unless something of the sponsor's comes back", () => {
    const left = { terms: termsOf({ mint: SOL_MINT }), withoutToken: true, sender: {} };
    const order = { lamports: FEE + rent(0) - 1n };
    expect(planned({ ...left, order }).kind).toBe("not_worth");
    expect(sums({ ...left, order: { lamports: FEE + rent(0) } }).lamports).toEqual([rent(0), FEE]);
    expect(sums({ ...left, order: { lamports: LOAN + 1n }, charge: 0n, loan: LOAN }).lamports).toEqual([
      0n,
      LOAN + 1n,
    ]);
    expect(sums({ order: { usdc: 5_000_000n, lamports: 1n }, sender: { usdc: 0n } })).toEqual({
      tokens: [5_000_000n, 0n],
      lamports: [0n, R165 + 1n],
    });
  });

  test("K16: one asset that covers the cost bears it, tokens first; his account is borne by its tokens", () => {
    const left = { terms: termsOf({ mint: SOL_MINT }), charge: 4_000_000n };
    const lamports = [8_000_000n - (4_000_000n - R165), 4_000_000n];
    expect(sums({ ...left, order: { usdc: 300_000n, lamports: 8_000_000n } })).toEqual({
      tokens: [300_000n, 0n],
      lamports,
    });
    const sender = { lamports: 9_000_000n };
    expect(sums({ ...left, sender, order: { usdc: 500_000n, lamports: 8_000_000n } })).toEqual({
      tokens: [500_000n - R165 / 5n, R165 / 5n],
      lamports,
    });
    expect(sums({ ...left, order: { usdc: 900_000n, lamports: 8_000_000n } })).toEqual({
      tokens: [900_000n - (4_000_000n - R165) / 5n, (4_000_000n - R165) / 5n],
      lamports: [8_000_000n, R165],
    });
  });

  test("K16: without a price it waits, unless nothing is withheld", () => {
    const left = { order: { usdc: 5_000_000n }, lamportsAUnit: null };
    expect(planned({ ...left, charge: REFUSED }).kind).toBe("rest");
    expect(planned({ ...left, charge: REFUSED, sender: {} }).kind).toBe("waiting_for_price");
  });

  test("K16: a purse that cannot take tokens leaves its leg out, and makes no account for nothing", () => {
    const frozen = { ...RICH, usdc: account(0n, { state: "frozen" }) };
    const left = { order: { usdc: 5_000_000n }, way: "bare", charge: REFUSED } as const;
    expect(sums({ ...left, sponsor: frozen }).tokens).toEqual([5_000_000n, 0n]);
    expect(planned({ ...left, sponsor: frozen, sender: {} }).kind).toBe("purse_frozen");
    expect(planned({ order: { usdc: 9n }, sponsor: { lamports: 1n }, sender: {} }).kind).toBe("purse_frozen");
  });

  test("K10: his account is missing, and the purse frozen, only if the witnesses say so", () => {
    const wallets = (sender: Wallet, sponsor: Wallet) => ({ [SENDER]: sender, [SPONSOR]: sponsor });
    const order = { usdc: 5_000_000n };
    const shown = [
      { slot: 101, order, wallets: wallets({ lamports: 1n }, { lamports: 1n }) },
      { order, wallets: wallets(RICH, RICH) },
    ];
    expect(rest({ shown, charge: REFUSED }).token).toMatchObject({
      toSender: 5_000_000n,
      accountPayer: ORDER,
    });
  });

  test("K11: tokens in a frozen account of the order's are held; one that is somebody else's is not the order's", () => {
    expect(planned({ order: { usdc: account(5n, { state: "frozen" }) } }).kind).toBe("held");
    expect(planned({ order: { usdc: account(0n, { state: "foreign" }) } }).kind).toBe("nothing");
  });
});

/** Of any reading: amounts up to some SOL and USDC, any charge, any rate between half and twice the order's. */
const anyLeft = fc.record({
  units: fc.oneof(fc.constant(null), fc.bigInt(0n, 3_000_000n)),
  accountLamports: fc.bigInt(0n, 3n * R165),
  lamports: fc.bigInt(0n, 4n * LOAN),
  lent: fc.boolean(),
  charge: fc.bigInt(0n, 4_000_000n),
  rentPerByte: fc.bigInt(RATE / 2n, 2n * RATE),
  hasAccount: fc.boolean(),
  hasRent: fc.boolean(),
  purse: fc.boolean(),
  way: fc.constantFrom("asserted" as const, "bare" as const),
});

/** Which truths about a rest of such a reading do not hold. */
function brokenBy(
  { token, lamports: { toSender, toSponsor }, back, way }: Rest,
  left: {
    readonly [sum in "accountLamports" | "lamports" | "loan" | "charge" | "rentPerByte"]: bigint;
  } & { readonly units: bigint | null; readonly hasAccount: boolean; readonly hasRent: boolean },
): readonly string[] {
  const isAsserted = way === "asserted";
  const closing = isAsserted && token !== null ? left.accountLamports : 0n;
  const rentBack = closing < R165 ? closing : R165;
  const empty = 128n * left.rentPerByte;
  const leaves = toSender + toSponsor === 0n ? left.lamports : left.loan > empty ? left.loan : empty;
  const made = left.hasAccount ? 0n : 293n * left.rentPerByte;
  const units = { toSender: token?.toSender ?? 0n, toSponsor: token?.toSponsor ?? 0n };
  const truths = {
    "all lamports leave, or all but what a bare rest leaves":
      toSender + toSponsor === left.lamports + closing - (isAsserted ? 0n : leaves),
    "all tokens leave": token === null || units.toSender + units.toSponsor === left.units,
    "loan and rent come back": back === (isAsserted ? left.loan + rentBack : 0n) && toSponsor >= back,
    "the sender gets no lamports of the sponsor's":
      toSender === 0n || (toSender > 0n && toSender <= left.lamports + closing - left.loan - rentBack),
    "the sender can hold what he gets": toSender === 0n || left.hasRent || toSender >= empty,
    "no more is withheld of his tokens than the cost":
      units.toSender === 0n || (units.toSender > 0n && units.toSponsor * 5n < left.charge + made + 5n),
    "no more is withheld of his lamports than the cost": toSender === 0n || toSponsor - back <= left.charge,
  };
  return Object.entries(truths).flatMap(([truth, holds]) => (holds ? [] : [truth]));
}

test("K13, K16: of any reading the sums close, and neither gets more than is his", () => {
  fc.assert(
    fc.property(anyLeft, ({ units, accountLamports, lamports, lent, charge, ...left }) => {
      const loan = lent ? LOAN : 0n;
      const order = {
        lamports,
        ...(units === null ? {} : { usdc: account(units, { lamports: accountLamports }) }),
      };
      const plan = planned({
        ...left,
        charge,
        loan,
        order,
        sender: {
          ...(left.hasRent ? { lamports: 9_000_000n } : {}),
          ...(left.hasAccount ? { usdc: 0n } : {}),
        },
        sponsor: left.purse ? RICH : { lamports: 1n },
      });
      if (plan.kind !== "rest") return;
      expect(brokenBy(plan, { ...left, units, accountLamports, lamports, loan, charge })).toEqual([]);
    }),
    { numRuns: runsOf(1_500) },
  );
});

/** The rest as the game of costs plays it: a lamport a base unit, all of the readings that it comes to. */
function playedRest(s: {
  tok: bigint;
  acc: boolean;
  accL: bigint;
  extra: bigint;
  loan: bigint;
  sAcc: boolean;
  sSol: boolean;
  bare: boolean;
  base: bigint;
}) {
  const most = (n: bigint): bigint => (n > 0n ? n : 0n);
  const own = s.accL < R165 ? s.accL : R165;
  const credit = s.acc && !s.bare ? own : 0n;
  const make = s.sAcc || s.tok === 0n ? 0n : R165;
  const keep = s.bare ? (s.loan > rent(0) ? s.loan : rent(0)) - s.loan : 0n;
  const over = s.acc && !s.bare ? s.accL - own : 0n;
  const lamports = most(s.extra + over - keep);
  const holds = (n: bigint): boolean => n > 0n && (s.sSol || n >= rent(0));
  let costT = most(s.base + make - credit);
  let costL = 0n;
  const bearT = s.tok > costT;
  if (!bearT) {
    costL = most(s.base - credit);
    costT = most(make - most(credit - s.base));
  }
  const bearL = !bearT && holds(lamports - costL);
  const givesT = s.tok > 0n && (bearT || (bearL && s.tok > costT));
  const givesL = bearT ? holds(lamports) : bearL;
  const comes = !s.bare && (s.acc || s.loan > 0n);
  if (!givesT && !givesL && !comes) return null;
  return { tokens: givesT ? s.tok - costT : 0n, lamports: givesL ? lamports - costL : 0n };
}

test("K16: a rest is what the game of costs plays, in which the sponsor loses less than the others", () => {
  const reading = fc.record({
    tok: fc.bigInt(0n, 1_000_000n),
    acc: fc.boolean(),
    accL: fc.bigInt(0n, 3n * R165),
    extra: fc.bigInt(0n, 3n * LOAN),
    loan: fc.constantFrom(0n, LOAN),
    sAcc: fc.boolean(),
    sSol: fc.boolean(),
    bare: fc.boolean(),
    base: fc.bigInt(0n, 1_000_000n),
  });
  fc.assert(
    fc.property(reading, (drawn) => {
      const s = { ...drawn, tok: drawn.acc ? drawn.tok : 0n };
      const plan = planned({
        terms: termsOf({ mint: SOL_MINT }),
        order: {
          lamports: s.extra + s.loan,
          ...(s.acc ? { usdc: account(s.tok, { lamports: s.accL }) } : {}),
        },
        sender: { ...(s.sSol ? { lamports: rent(0) } : {}), ...(s.sAcc ? { usdc: 0n } : {}) },
        charge: s.base,
        loan: s.loan,
        way: s.bare ? "bare" : "asserted",
        lamportsAUnit: 1n,
      });
      const played = playedRest(s);
      const given =
        plan.kind === "rest"
          ? { tokens: plan.token?.toSender ?? 0n, lamports: plan.lamports.toSender }
          : null;
      expect(given).toEqual(played);
    }),
    { numRuns: runsOf(1_500) },
  );
});

describe("K13: dust", () => {
  const error = (index: number, custom: number): string =>
    JSON.stringify({ InstructionError: [index, { Custom: custom }] });

  test("K13: is what leaves an account or the address not empty, and no account of the sender's that another took", () => {
    expect([error(5, 11), error(6, 0)].map(isOfDust)).toEqual([true, true]);
    expect([error(2, 0), error(5, 1), null].map(isOfDust)).toEqual([false, false, false]);
  });

  test("K13: has one rest go bare: where that is not worth its cost, the next asserts again", () => {
    const attempts = [{ error: error(6, 0) }] as unknown as readonly AttemptRecord[];
    const disturbed = (reason: string | null, tried = attempts): boolean =>
      isDisturbed({ row: { reason } as TransferRecord, attempts: tried });
    expect([disturbed(null), disturbed("dust")]).toEqual([true, true]);
    expect([disturbed(ASSERTED_AGAIN), disturbed(null, [])]).toEqual([false, false]);
  });
});
