/** K4, K14, K15: markers of another hand, the loan, and what a person writes off. */
import { describe, test } from "vitest";
import { expectBroken, expectHolds } from "../expectations.ts";
import { CAN_END } from "../explore.ts";
import { type ForeignMarkerRule, ForeignMarkersModel } from "./foreign-markers.ts";
import { OneBlockModel } from "./one-block.ts";
import { LoanModel, type LoanRule } from "./loan.ts";
import { WrittenOffModel, type WrittenOffRule } from "./written-off.ts";

/** A rule, the promise that breaks without it, and the shortest way. */
type Break<Rule> = readonly [without: Rule, promise: string, acts: string];

describe("markers of another hand, and a lie that all witnesses told", () => {
  test("K4, K14: what happened is told, or is a matter for a person", () => {
    expectHolds(new ForeignMarkersModel());
  });

  test.each<Break<ForeignMarkerRule>>([
    [
      "K4: a foreign marker is told by its own transactions",
      "nobody is told paid by the length while the history may come",
      "the thief makes the marker and takes all → adopts the marker → tells by its length",
    ],
    [
      "K4: a transaction that names it in a lookup table tells it, too",
      CAN_END,
      "the thief makes the marker through a lookup table and takes all",
    ],
    [
      "K4: every transaction that names it tells it",
      CAN_END,
      "the thief makes the marker, and pays in another transaction",
    ],
    [
      "K4: without history it is told by its length, but not before an hour",
      "nobody is told paid by the length while the history may come",
      "the thief makes the marker and takes all → there is no history → adopts the marker → tells by its length",
    ],
    [
      "K4: without history it is told by its length after an hour",
      CAN_END,
      "another copy pays → there is no history",
    ],
    [
      "K14: a marker that a row has and the chain has not is told and made again",
      CAN_END,
      "all witnesses say that the payee is paid → adopts the marker",
    ],
    [
      "K14: from the first reading without it on nothing is given to the sender",
      CAN_END,
      "all witnesses say that the payee is paid → adopts the marker → all witnesses tell the truth → the marker of the row is not there → the no-go and a rest to the sender land",
    ],
  ])("without %s", (without, promise, acts) => {
    expectBroken(new ForeignMarkersModel(without), { promise, acts });
  });
});

describe("the loan of an order in SOL", () => {
  test("K15: thefts are told, and the loan comes back, also by a rest of another copy", () => {
    expectHolds(new LoanModel({}));
  });

  test("K15: without history, too, nothing is told missing in an honest life", () => {
    expectHolds(new LoanModel({ history: "none" }));
  });

  test.each<Break<LoanRule>>([
    ["K15: what is held may be below 0", CAN_END, "the go pays 8 and lends 2 → the thief takes 1"],
    [
      "K15: the loan is back by a transaction",
      "a loan that is told back is with the sponsor",
      "the go pays 8 and lends 2 → the thief takes 2 → takes the loan for back, since nothing is there",
    ],
    [
      "K15: a transaction of another copy counts, too",
      "nothing is told missing in an honest life",
      "the go pays 8 and lends 2 → another copy's rest gives 2 to the sponsor → it is short, once → tells 2 missing",
    ],
  ])("without %s", (without, promise, acts) => {
    expectBroken(new LoanModel({ without }), { promise, acts });
  });

  test.each<Break<LoanRule>>([
    [
      "K15: without history the loan is back when all is decided and nothing is there",
      "nothing is told missing in an honest life",
      "the go pays 8 and lends 2 → another copy's rest gives 2 to the sponsor → it is short, once → tells 2 missing",
    ],
  ])("nobody has the history, and without %s", (without, promise, acts) => {
    expectBroken(new LoanModel({ history: "none", without }), { promise, acts });
  });
});

describe("what a person writes off", () => {
  test("K15: a theft is concluded once, and a lie of all witnesses is undone", () => {
    expectHolds(new WrittenOffModel());
  });

  test.each<Break<WrittenOffRule>>([
    [
      "K15: what is written off counts as sent",
      "what was concluded is not told missing again",
      "8 come → the thief takes 8 → the level is 8 → it is short, once → tells 8 missing → a person concludes 8 → the level is 8 → it is short, once → tells 8 missing",
    ],
    [
      "K15: what turns up again lessens it",
      "no more is told received than came",
      "8 come → all witnesses say that nothing is there → reconcile lists the history → it is short, once → tells 8 missing → a person concludes 8 → all witnesses tell the truth → the level is 16",
    ],
    [
      "K15: a deposit that is listed does not lessen it",
      "what was concluded is not told missing again",
      "8 come → the thief takes 8 → reconcile lists the history → it is short, once → tells 8 missing → a person concludes 8 → 3 come → what was written off is lessened → reconcile lists the history → it is short, once → tells 3 missing",
    ],
  ])("without %s", (without, promise, acts) => {
    expectBroken(new WrittenOffModel(without), { promise, acts });
  });
});

describe("what an endpoint shows is of one block", () => {
  test("K15: while a chunk lands, one endpoint is behind and one lies, no deposit and no shortage is told", () => {
    expectHolds(new OneBlockModel());
  });

  test("without K15: each endpoint's marker counts with its own balance", () => {
    expectBroken(new OneBlockModel("K15: each endpoint's marker counts with its own balance"), {
      promise: "no more is told received than came",
      acts: "the chunk lands → reads, the liar says 8 and a marker",
    });
  });
});
