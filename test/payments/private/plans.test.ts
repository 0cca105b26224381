/** What excludes what on the chain follows from the words and moves of plans alone: each of them says enough. */
import { describe, expect, test } from "vitest";
import type { Address } from "../../../src/address.ts";
import { MAINNET_STABLECOINS, type Token } from "../../../src/payments/assets/assets.ts";
import { payoutPlan, replacementPlan } from "../../../src/payments/outgoing/plans/plan-payouts.ts";
import { nextSettlementStep, type Settlement } from "../../../src/payments/outgoing/plans/plan-settlement.ts";
import {
  leafWords,
  ORDER_WORDS,
  planWords,
  refundWords,
} from "../../../src/payments/outgoing/plans/words.ts";

const address = "deposit" as Address;
const sponsor = "sponsor" as Address;
const sender = "sender" as Address;
const treasury = "treasury" as Address;
const terms = { address, sponsor, rentMinimum: 890_880n };
const usdc: Token = {
  symbol: "USDC",
  name: "USD Coin",
  mint: MAINNET_STABLECOINS.USDC,
  decimals: 6,
  logoUri: "",
};

/** An address with so much to refund, after its order. */
function facts(balance: bigint, more: Partial<Settlement> = {}): Settlement {
  const holding = {
    asset: usdc,
    balance,
    kept: 0n,
    lent: 0n,
    refundCost: 10n,
    isAccountPriced: false,
    hasAccount: true,
  };
  return {
    terms,
    receiver: sender,
    treasury,
    holdings: [holding],
    open: [],
    paidIn: usdc.mint,
    markers: [],
    excesses: 0,
    planned: 1,
    mayRefund: true,
    mayClose: false,
    ...more,
  };
}

/** The first move of what is planned next. */
function firstMove(settlement: Settlement): unknown {
  const step = nextSettlementStep(settlement);
  return "plan" in step ? step.plan.moves[0] : step.do;
}

describe("words", () => {
  test("of a payment differ where one recipient is paid another amount, or another recipient is paid", () => {
    const words = leafWords(ORDER_WORDS, [{ index: 0, amount: 5n }]);
    expect(leafWords(ORDER_WORDS, [{ index: 0, amount: 6n }])).not.toBe(words);
    expect(leafWords(ORDER_WORDS, [{ index: 1, amount: 5n }])).not.toBe(words);
    expect(leafWords("another", [{ index: 0, amount: 5n }])).not.toBe(words);
    expect(leafWords(ORDER_WORDS, [{ index: 0, amount: 5n }])).toBe(words);
  });

  test("of a plan differ where any of its payments does, also the last", () => {
    const leaves = ["one", "two", "three"].map((words) => ({ words }));
    const words = planWords(ORDER_WORDS, leaves);
    for (const index of leaves.keys()) {
      const other = leaves.map((leaf, at) => (at === index ? { words: "other" } : leaf));
      expect(planWords(ORDER_WORDS, other)).not.toBe(words);
      expect(planWords(ORDER_WORDS, leaves.toSpliced(index, 1))).not.toBe(words);
    }
    expect(planWords("another", leaves)).not.toBe(words);
  });

  test("of a refund that replaces a payment say what is refunded to which address", () => {
    const refund = { mint: usdc.mint, amount: 5n, to: sender };
    const words = refundWords(ORDER_WORDS, refund);
    expect(refundWords(ORDER_WORDS, { ...refund, amount: 6n })).not.toBe(words);
    expect(refundWords(ORDER_WORDS, { ...refund, to: treasury })).not.toBe(words);
    expect(refundWords(ORDER_WORDS, { ...refund, mint: MAINNET_STABLECOINS.USDT })).not.toBe(words);
  });
});

describe("M7: two refunds of excess", () => {
  test("that were planned on different balances by two copies of the database share a marker", () => {
    const mark = { does: "mark", base: address, words: "excess 1", payer: sponsor };
    expect(firstMove(facts(1_000n))).toEqual(mark);
    expect(firstMove(facts(2_000n, { planned: 7 }))).toEqual(mark);
  });

  test("of which the first is final have markers of their own", () => {
    expect(firstMove(facts(1_000n, { excesses: 1 }))).toMatchObject({ words: "excess 2" });
  });
});

describe("what a plan names", () => {
  const payee = { index: 0, address: sender, amount: 5n, accountPayer: address };

  test("makes its own marker and then fails unless that plan was made, before anything is paid", () => {
    const { moves } = payoutPlan(
      terms,
      { asset: usdc, payees: [payee] },
      { words: "leaf", follows: "the plan" },
    );
    expect(moves.map(({ does }) => does)).toEqual(["mark", "follow", "transfer"]);
    expect(moves.slice(0, 2)).toMatchObject([{ words: "leaf" }, { planWords: "the plan" }]);
  });

  test("is replaced only where that plan was made", () => {
    const leaves = [{ words: "leaf of leaf", indexes: [0], sponsored: [] }];
    const replaced = { words: "leaf", follows: "the plan" };
    const { moves } = replacementPlan(terms, replaced, { leaves, leftOut: [] });
    expect(moves).toMatchObject([
      { does: "follow", planWords: "the plan" },
      { does: "replace", words: "leaf", planWords: planWords("leaf", leaves) },
    ]);
  });

  test("is refunded only where that plan was made, in one transaction with the refund", () => {
    const open = [{ words: "leaf", follows: "the plan", indexes: [0], amount: 900n, isMade: false }];
    const step = nextSettlementStep(facts(1_000n, { open }));
    if (!("plan" in step)) throw new Error("a refund is planned");
    expect(step.plan.moves).toMatchObject([
      { does: "follow", planWords: "the plan" },
      { does: "replace", words: "leaf" },
      { does: "transfer", to: sender, amount: 990n },
    ]);
  });

  test("and was made after all is not refunded: it is read again first", () => {
    const open = [{ words: "leaf", follows: null, indexes: [0], amount: 900n, isMade: true }];
    expect(nextSettlementStep(facts(1_000n, { open }))).toMatchObject({ do: "recover", amount: 0n });
  });
});

describe("M7: markers that stand at an emptied address", () => {
  const markers = [ORDER_WORDS];

  test("are not swept while bytes that they refuse may land, and are as soon as those cannot", () => {
    expect(nextSettlementStep(facts(0n, { markers }))).toEqual({ do: "rest" });
    expect(nextSettlementStep(facts(0n, { markers, mayClose: true }))).toMatchObject({ do: "sweep" });
  });

  test("do not keep what is left from being refunded first", () => {
    expect(nextSettlementStep(facts(1_000n, { markers, mayClose: true }))).toMatchObject({ do: "refund" });
  });
});
