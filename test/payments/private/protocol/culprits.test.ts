/** K11: the closed table, row by row. */
// modules: private
import type { TransferKind } from "../../../../machines/transfer.ts";
import { describe, expect, test } from "vitest";
import type { Address } from "../../../../src/core/address.ts";
import type { FaultError, FaultStep } from "../../../../src/ledger/order-fault.ts";
import type { TokenAccountTold } from "../../../../src/ledger/order-reading.ts";
import { legsOfChunk } from "../../../../src/payments/private/protocol/chunk.ts";
import { judge, unpayable, type Verdict } from "../../../../src/payments/private/protocol/culprits.ts";
import { SOL, type Leg } from "../../../../src/payments/private/protocol/legs.ts";
import { legsOfRedirect } from "../../../../src/payments/private/protocol/redirect.ts";
import { legsOfRest } from "../../../../src/payments/private/protocol/rest.ts";
import type { OrderView } from "../../../../src/payments/private/protocol/rows.ts";
import {
  DESK,
  LOAN,
  ORDER,
  OTHER,
  payee,
  SENDER,
  SOL_MINT,
  SPONSOR,
  termsOf,
  TREASURY,
  USDC,
  viewOf,
  type Shown,
  type Told,
} from "./order.ts";

const custom = (number: number): FaultError => ({ custom: number });
const frozen: TokenAccountTold = { amount: 0n, lamports: 0n, state: "frozen" };

/** A transaction that fails at a move's step, or by somebody's lamports. */
class Failing {
  readonly view: OrderView;
  readonly kind: TransferKind;
  readonly legs: readonly Leg[];

  constructor(view: OrderView, kind: TransferKind, legs: readonly Leg[]) {
    this.view = view;
    this.kind = kind;
    this.legs = legs;
  }

  at(move: number, step: FaultStep, error: FaultError): Verdict {
    return this.#judged({ at: { move, step }, account: null, error });
  }

  by(account: Address, error: FaultError): Verdict {
    return this.#judged({ at: null, account, error });
  }

  #judged(fault: {
    at: { move: number; step: FaultStep } | null;
    account: Address | null;
    error: FaultError;
  }): Verdict {
    const k = this.kind === "chunk" ? 0 : null;
    return judge(this.view, { kind: this.kind, k, legs: this.legs, fault: { ...fault, text: "{}" } });
  }
}

function chunkOf(told: Told, shown: Shown = { order: { usdc: 9_000_000n } }): Failing {
  const view = viewOf({ terms: termsOf(told), shown: [shown] });
  const swap =
    told.type === "swap"
      ? { desk: DESK, asset: told.payMint === SOL_MINT ? SOL : { mint: USDC, decimals: 6 }, output: 9n }
      : null;
  return new Failing(
    view,
    "chunk",
    legsOfChunk(view, { k: 0, outcome: { kind: "paid", leftOut: [] }, swap }),
  );
}

const rest = (): Failing =>
  new Failing(
    viewOf({ shown: [{ order: { usdc: 9n } }] }),
    "rest",
    legsOfRest(termsOf(), {
      kind: "rest",
      way: "asserted",
      token: { mint: USDC, decimals: 6, toSender: 7n, toSponsor: 2n, accountPayer: ORDER },
      lamports: { toSender: 5n, toSponsor: 5n },
      back: 5n,
      isCostLeftOut: false,
      aside: 0n,
    }),
  );
const [SENDERS, COST, CLOSE, EMPTY] = [0, 1, 2, 5];

const redirect = (): Failing => {
  const view = viewOf({ shown: [{ order: { usdc: 9n } }] });
  const act = { n: 0, mint: USDC, sum: 9n, to: OTHER, state: "open" } as const;
  const sums = { kind: "redirect", toReceiver: 7n, cost: 2n, accountPayer: ORDER, aside: LOAN } as const;
  return new Failing(view, "redirect", legsOfRedirect(view, act, sums));
};

const notNow = (reason: string) => ({ kind: "not_now", reason });
const leaveOut = (...places: readonly number[]) => ({ kind: "leave_out", places });
const UNEXPLAINED = notNow("unexplained");

describe("K11: the table", () => {
  const tokens = chunkOf({ recipients: 3 });
  const priced = chunkOf({ recipients: 3, isPriced: true });
  const sol = chunkOf({ recipients: 3, mint: SOL_MINT });

  test("K11: row 1: the marker stands", () => {
    expect(tokens.at(0, "allocate", custom(0))).toEqual({ kind: "stands" });
  });

  test("K11: rows 2, 3 and 6: the sponsor cannot pay", () => {
    expect(tokens.at(0, "fund", custom(1))).toEqual(notNow("low_purse"));
    expect(sol.at(5, "pay", custom(1))).toEqual(notNow("low_purse"));
    expect(redirect().at(4, "pay", custom(1))).toEqual(notNow("low_purse"));
    expect(tokens.by(SPONSOR, "rent")).toEqual(notNow("low_purse"));
    expect(tokens.by(SPONSOR, "fee")).toEqual(notNow("low_purse"));
    expect(priced.at(2, "create", custom(1))).toEqual(notNow("low_purse"));
  });

  test("K11: row 4: the rent was told too low", () => {
    expect(tokens.by(DESK, "rent")).toEqual(notNow("rent"));
  });

  test("K11: row 5: an account that was handed over blames its payee; in a rest or redirect it is held", () => {
    expect(tokens.at(2, "create", custom(0))).toEqual(leaveOut(1));
    expect(tokens.at(4, "create", custom(0))).toEqual(leaveOut(3));
    expect(rest().at(SENDERS, "create", custom(0))).toEqual({ kind: "held" });
    expect(redirect().at(2, "create", custom(0))).toEqual({ kind: "held" });
  });

  test("K11: rows 7 and 8: an account that the order itself was to pay for", () => {
    expect(tokens.at(3, "create", custom(1))).toEqual(leaveOut(2));
    expect(rest().at(SENDERS, "create", custom(1))).toEqual(notNow("read_again"));
    expect(redirect().at(2, "create", custom(1))).toEqual(notNow("read_again"));
  });

  test("K11: row 9: unpriced payees whose account is missing, by witnesses; nobody else", () => {
    const there = { [payee(0)]: { usdc: 0n }, [payee(2)]: { usdc: 0n } };
    expect(chunkOf({ recipients: 3 }, { wallets: there }).by(ORDER, "rent")).toEqual(leaveOut(2));
    const all = { ...there, [payee(1)]: { usdc: 0n } };
    expect(chunkOf({ recipients: 3 }, { wallets: all }).by(ORDER, "rent")).toEqual(UNEXPLAINED);
    expect(priced.by(ORDER, "rent")).toEqual(UNEXPLAINED);
    expect(sol.by(ORDER, "rent")).toEqual(UNEXPLAINED);
    expect(rest().by(ORDER, "rent")).toEqual(UNEXPLAINED);
  });

  test("K11: row 10: every member that pays an account of too few lamports; the treasury's is the fee", () => {
    expect(sol.by(payee(1), "rent")).toEqual(leaveOut(2));
    expect(sol.by(TREASURY, "rent")).toEqual(leaveOut(0));
    const twice = chunkOf({ recipients: 3, mint: SOL_MINT, treasury: payee(2) });
    expect(twice.by(payee(2), "rent")).toEqual(leaveOut(0, 3));
  });

  test("K11: row 11: an account that nobody may pay", () => {
    expect(sol.at(3, "pay", "readonly_lamports")).toEqual(leaveOut(2));
  });

  test.for([custom(17), "missing_account"] as const)(
    "K11: row 12: %o blames the end that cannot be used",
    (error) => {
      const order = { usdc: 9n };
      const payees = chunkOf(
        { recipients: 2 },
        { order, wallets: { [payee(1)]: { usdc: frozen }, [payee(0)]: { usdc: 0n } } },
      );
      expect(payees.at(3, "pay", error)).toEqual(leaveOut(2));
      expect(payees.at(2, "pay", error)).toEqual(UNEXPLAINED);
      const treasury = chunkOf({}, { order, wallets: { [TREASURY]: { usdc: frozen } } });
      expect(treasury.at(1, "pay", error)).toEqual(leaveOut(0));
      const own = chunkOf({}, { order: { usdc: frozen }, wallets: { [payee(0)]: { usdc: 0n } } });
      expect(own.at(2, "pay", error)).toEqual({ kind: "held" });
      const made = chunkOf({ isPriced: true }, { order: { usdc: frozen } });
      expect(made.at(2, "pay", error)).toEqual({ kind: "held" });
    },
  );

  test("K11: row 13: too little at the order is a matter of its levels, and blames no payee", () => {
    expect(tokens.at(1, "pay", custom(1))).toEqual(notNow("levels"));
    expect(sol.at(2, "pay", custom(1))).toEqual(notNow("levels"));
    expect(rest().at(SENDERS, "pay", custom(1))).toEqual(notNow("levels"));
  });

  test("K11: row 14: the desk's leg, unless its payee's account cannot be used", () => {
    const wallets = { [payee(0)]: { usdc: 0n } };
    const swap = chunkOf({ type: "swap", payMint: USDC, mint: SOL_MINT }, { wallets });
    expect(swap.at(3, "pay", custom(1))).toEqual(notNow("desk"));
    expect(swap.at(3, "pay", custom(17))).toEqual(notNow("desk"));
    expect(swap.at(3, "pay", "other")).toEqual(notNow("desk"));
    expect(swap.by(DESK, "rent")).toEqual(notNow("desk"));
    const frozenPayee = chunkOf(
      { type: "swap", payMint: USDC, mint: SOL_MINT },
      { wallets: { [payee(0)]: { usdc: frozen } } },
    );
    expect(frozenPayee.at(3, "pay", custom(17))).toEqual(leaveOut(1));
    const sold = chunkOf({ type: "swap", payMint: SOL_MINT }, { order: { usdc: 9_000_000n } });
    expect(sold.at(2, "pay", custom(17))).toEqual(notNow("desk"));
  });

  test("K11: row 15: who is to get a rest or redirect cannot take it; a sender without rent is read again", () => {
    expect(rest().at(SENDERS, "pay", custom(17))).toEqual({ kind: "held" });
    expect(redirect().at(2, "pay", custom(17))).toEqual({ kind: "held" });
    expect(rest().by(SENDER, "rent")).toEqual(notNow("read_again"));
  });

  test("K11: row 16: the sponsor's account cannot take the cost", () => {
    expect(rest().at(COST, "pay", custom(17))).toEqual({ kind: "without_cost" });
    expect(redirect().at(3, "pay", "missing_account")).toEqual({ kind: "without_cost" });
  });

  test("K11: row 17: dust came", () => {
    expect(rest().at(CLOSE, "close", custom(11))).toEqual({ kind: "bare" });
    expect(rest().at(EMPTY, "empty", custom(0))).toEqual({ kind: "bare" });
  });

  test.for([
    [null, null, "blockhash"],
    [null, null, "other"],
    [2, "pay", custom(3)],
    [2, "create", custom(17)],
    [0, "allocate", custom(5)],
    [9, "pay", custom(17)],
    [2, "pay", "readonly"],
  ] as const)("K11: %o, %o, %o blames nobody", ([move, step, error]) => {
    const said = error as FaultError;
    expect(move === null ? tokens.by(OTHER, said) : tokens.at(move, step, said)).toEqual(UNEXPLAINED);
  });
});

describe("K11: before a chunk is signed", () => {
  const of = (told: Told, shown: readonly Shown[]) => unpayable(viewOf({ terms: termsOf(told), shown }), 0);
  test("K11: an unpriced payee without an account is left out, a priced one never, nor one of whom the witnesses differ", () => {
    const wallets = { [payee(1)]: { usdc: 0n } };
    expect(of({ recipients: 2 }, [{ wallets }])).toEqual([1]);
    expect(of({ recipients: 2, isPriced: true }, [{ wallets }])).toEqual([]);
    expect(of({ recipients: 2 }, [{ wallets }, {}])).toEqual([1]);
    expect(of({ recipients: 2, mint: SOL_MINT }, [{}])).toEqual([]);
  });
});
