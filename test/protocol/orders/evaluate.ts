/** What the service concludes of a reading that shows no news of markers: what it tells its chart, and what it signs. */
import type { OrderEventName, OrderPlace } from "./edges.ts";
import type { Reading } from "./reading.ts";
import { ALL, type Money, type Moves, service, WORTH } from "./state.ts";

const EVALUATIONS: Partial<Record<OrderPlace, (reading: Reading) => Moves>> = {
  waiting: wait,
  deciding: decide,
  refusing: refuseOrder,
  paying: pay,
  "over.idle": idle,
  "over.refusing": refuseOrder,
  "over.paying": pay,
  "over.resting": rest,
};

/** Everything that may follow now. */
export function* evaluate(reading: Reading): Moves {
  const evaluation = EVALUATIONS[reading.state.place];
  if (evaluation !== undefined) yield* evaluation(reading);
}

function* wait(reading: Reading): Moves {
  const { isWindowOver, money: real } = reading.state;
  const { money, marker0 } = reading.shown;
  const isCounted = money >= 2 && !reading.without("K17: a cancel reads whether a deposit is there");
  if (marker0 === "none" && !isCounted) yield* reading.told("CANCEL", { ends: "cancelled" });
  const row = windowRow(reading, money);
  const isOfLarger = reading.without("a deposit is what both witnesses say at least");
  // The second witness says what it likes.
  for (const said of [0, 1, 2, 3, 4] as const) {
    if ((isOfLarger ? Math.max(said, money) : Math.min(said, money)) === ALL) {
      const broken = real < ALL ? "nothing is decided without the deposit" : null;
      yield* reading.told("FUNDED", { broken });
    }
    if (!isWindowOver || row === "FUNDED") continue;
    if (windowRow(reading, said) === row) yield* end(reading, row, null);
    else if (isSmallestBelieved(reading, row, Math.min(said, money) as Money)) {
      yield* end(reading, "WINDOW_OVER", "nothing ends as unpaid over money that came");
    }
  }
}

function isSmallestBelieved(reading: Reading, row: OrderEventName | null, least: Money): boolean {
  const isBelieved = reading.without("the window ends where each witness's reading leads to one row");
  return isBelieved && row !== "WINDOW_OVER" && windowRow(reading, least) === "WINDOW_OVER";
}

function* end(reading: Reading, row: OrderEventName | null, broken: string | null): Moves {
  const closes = row === "WINDOW_OVER" ? ({ ends: "failed" } as const) : {};
  if (row !== null) yield* reading.told(row, { broken, ...closes });
}

/** Where a reading of this much leads once the window is over; null without the rule that leads anywhere. */
function windowRow(reading: Reading, money: Money): OrderEventName | null {
  const { isPriceKnown } = reading.state;
  if (money === ALL) return "FUNDED";
  if (money === WORTH && isPriceKnown) return "WINDOW_OVER_REFUSED";
  if (money >= 2 && !isPriceKnown) {
    return reading.without("without a price the window refuses") ? null : "WINDOW_OVER_REFUSED";
  }
  const isRefusedBelow = reading.without("K16: what is not worth its refund ends at the window");
  return money === 2 && isRefusedBelow ? "WINDOW_OVER_REFUSED" : "WINDOW_OVER";
}

function* decide(reading: Reading): Moves {
  const { isHeld, isUnpayable, isBelow } = reading.state;
  yield* signGo(reading);
  // Under a hold a person comes, or the money waits.
  yield* reading.told("DECLINE", {}, isHeld ? "service" : "world");
  if (isUnpayable) {
    if (!reading.without("no go of culprits is refused before the order is")) yield* reading.told("CULPRITS");
    else yield* reading.signNoGo();
  }
  if (isBelow && !isHeld) yield* reading.told("BELOW");
}

function* signGo(reading: Reading): Moves {
  const { isBelow, isUnpayable, isHeld, go, place } = reading.state;
  const isStopped = isHeld && !reading.without("a hold stops a go");
  if (isBelow || isUnpayable || isStopped || !reading.areServed() || go === "alive") return;
  if (place === "deciding" || reading.shown.money === ALL) yield service("signs the go", { go: "alive" });
}

function* refuseOrder(reading: Reading): Moves {
  const { go, place } = reading.state;
  yield* reading.signNoGo();
  const isEarly = reading.without("a refusal ends only when every attempt of chunk 0 is finalized-dead");
  if (!reading.isBelowCost() || (go === "alive" && !isEarly)) return;
  yield* reading.told("BELOW_COST", place === "refusing" ? { ends: "failed" } : {});
}

function* pay(reading: Reading): Moves {
  const { row0, row1, isDeclined, hasLied, isChunk1Signed, isForeclosed } = reading.state;
  if (row0 === "none") yield* makeAgain(reading);
  else if (row0 === "noGo") yield* reading.told("DECIDED_NONE");
  else if (row1 === "all") yield* reading.told("DECIDED_ALL");
  else if (row1 === "nobody") yield* reading.told("DECIDED_SOME", { isPartial: true });
  else {
    if (!isChunk1Signed && !reading.isStopped()) yield service("signs chunk 1", { isChunk1Signed: true });
    const foreclosed = { isForeclosed: true, isDeclined: isDeclined || hasLied };
    if (!isForeclosed) yield* reading.told("FORECLOSE", foreclosed);
  }
}

/** The go is gone: the same outcome again, or a person declines. */
function* makeAgain(reading: Reading): Moves {
  const { isNobodyWanted, isHeld } = reading.state;
  if (reading.isNobodyMadeAgain()) yield* reading.signNoGo();
  else {
    if (isNobodyWanted && reading.shown.money === ALL && reading.areServed() && !isHeld) {
      yield service("signs the go", { broken: "no go is signed where nobody was wanted" });
    }
    yield* signGo(reading);
  }
  yield* reading.told("DECLINE", { isDeclined: true });
}

function* idle(reading: Reading): Moves {
  const isWorth = reading.state.decision === "open" ? reading.isRefundable() : reading.shown.money > 0;
  if (isWorth) yield* reading.told("LATE");
}

function* rest(reading: Reading): Moves {
  const { isPriceKnown, isHeld, payers } = reading.state;
  const { money } = reading.shown;
  const isOfSender = payers === "the sender is refused";
  const mayGo =
    reading.areServed() ||
    reading.without("a rest waits for the screening of the payers") ||
    (isOfSender && reading.without("a rest waits for the screening of the sender"));
  if (money > 0 && isPriceKnown && !isHeld && mayGo) {
    const isLaundered = !reading.areServed() && (payers === "refused" || isOfSender);
    const broken = isLaundered ? "no refused wallet's money comes out" : null;
    yield service("a rest lands", { money: 0, broken });
  }
  if (money === 0) yield* reading.told("EMPTY");
  if (money > 0 && money < WORTH && reading.isBelowCost()) yield* reading.told("BELOW_COST");
}
