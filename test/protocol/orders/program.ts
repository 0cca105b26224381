/** What the service does with a reading: news of markers first, then what is missing, then all else. */
import { afterEdge } from "./edges.ts";
import { evaluate } from "./evaluate.ts";
import type { Reading } from "./reading.ts";
import { type Moves, service, world, WORTH } from "./state.ts";

/** Everything that the service may do now. */
export function* services(reading: Reading): Moves {
  const { place, line } = reading.state;
  if (line !== "none") {
    yield* reading.told(line === "failed" ? "LINE_FAILED" : "LINE_CANCELLED", { ends: "none" });
  }
  if (place === "closing") {
    yield* write(reading);
    return;
  }
  if (isAllAtConfirmed(reading)) yield* reading.told("CONFIRMED");
  if (isNewMarker(reading)) yield* adopt(reading);
  else if (isMissing(reading)) {
    yield* miss(reading);
    yield* tooEarly(reading);
  } else {
    yield* screen(reading);
    yield* evaluate(reading);
  }
}

function* write(reading: Reading): Moves {
  const { ends, line, status } = reading.state;
  if (ends === "none") return;
  yield* reading.told(ends === "failed" ? "LINE_FAILED" : "LINE_CANCELLED", { ends: "none" });
  if (!reading.happens("set back") || line !== "none") return;
  const place = status === "pending" ? "waiting" : "refusing";
  yield world("the line is written, then the database is set back", { place, ends: "none", line: ends });
}

function isAllAtConfirmed(reading: Reading): boolean {
  const { place, status, row0 } = reading.state;
  const { marker0, marker1 } = reading.shown;
  const isPaid = marker0 === "go" && marker1 === "all";
  const isOpen = place === "deciding" || (place === "paying" && row0 === "go");
  return isPaid && isOpen && status === "processing";
}

function isNewMarker(reading: Reading): boolean {
  const { row0, row1 } = reading.state;
  const { marker0, marker1 } = reading.shown;
  if (row0 === "none") return marker0 !== "none";
  return row0 === "go" && marker0 === "go" && row1 === "none" && marker1 !== "none";
}

function* adopt(reading: Reading): Moves {
  const { marker0: row0, marker1: row1 } = reading.shown;
  if (reading.state.row0 !== "none") yield* reading.mustBeTold("MARKS", { row1 });
  else if (row0 === "go") yield* reading.mustBeTold("GO", { row0, isMissed: false });
  else yield* reading.mustBeTold("NO_GO", { row0, row1: "none", isMissed: false });
}

/** A row has what this reading has not; of chunk 1 only behind the go. */
function isMissing(reading: Reading): boolean {
  return isMissing0(reading) || (reading.state.row0 === "go" && isMissing1(reading));
}

function isMissing0(reading: Reading): boolean {
  return reading.state.row0 !== "none" && reading.shown.marker0 !== reading.state.row0;
}

function isMissing1(reading: Reading): boolean {
  return reading.state.row1 !== "none" && reading.shown.marker1 !== reading.state.row1;
}

function* miss(reading: Reading): Moves {
  const { isMissed, row0, row1, isForeclosed } = reading.state;
  if (!isMissed) yield service("the marker of a row is missing, once", { isMissed: true });
  else if (isMissing0(reading)) {
    const isNobody = row0 === "noGo" || reading.isNobodyMadeAgain();
    yield* reading.told(isNobody ? "GONE_NOBODY" : "GONE", { row0: "none", isMissed: false });
  } else {
    const isNobody = row1 === "nobody" || isForeclosed;
    yield* reading.told(isNobody ? "GONE_K_NOBODY" : "GONE_K", { row1: "none", isMissed: false });
  }
}

/** What was signed while a marker was missing. */
function* tooEarly(reading: Reading): Moves {
  const { place, marker0, status, isDeclined, isHeld } = reading.state;
  const { money } = reading.shown;
  if (reading.without("nothing late is refused from the first reading without the marker on")) {
    if (place === "over.idle" && marker0 === "none" && reading.isRefundable()) yield* late(reading);
    if (place === "over.refusing") yield* reading.signNoGo();
  }
  if (!reading.without("nothing is given back from the first reading without the marker on")) return;
  if (place !== "over.resting" || money === 0 || isHeld || !reading.areServed()) return;
  const isToldPaid = status === "completed" && !isDeclined && money === WORTH;
  const broken = isToldPaid ? "what is told completed is not given back" : null;
  yield service("a rest lands", { money: 0, broken });
}

/** The chart would go by its rows, which still have the marker. */
function* late({ edges, state }: Reading): Moves {
  const edge = edges.find(({ on, if: decisions = [] }) => on === "LATE" && decisions.includes("open"));
  if (edge !== undefined) yield service("LATE", { ...afterEdge(edge, state), isNobodyWanted: true });
}

function* screen(reading: Reading): Moves {
  const { payers, money, place, isHeld, isReleased } = reading.state;
  const isScreening = reading.happens("screening");
  if (payers === "unknown") {
    const isMoney = reading.shown.money > 1;
    if (isMoney && !isScreening) yield service("the payers are screened", { payers: "clean" });
    if (isMoney && isScreening) {
      yield world("history names clean payers", { payers: "clean" });
      yield world("history names a refused payer", { payers: "refused" });
      yield world("the sender is refused", { payers: "the sender is refused" });
      const isHour = !reading.without("a payer unknown for an hour is a hold") && !isHeld && !isReleased;
      if (isHour) yield service("unknown for an hour: a hold", { isHeld: true });
    }
    const isDustOver = money <= 1 && place.startsWith("over.");
    if (isDustOver) yield service("dust needs no screening", { payers: "clean" });
    const isAsked = reading.without("a payer of dust needs no screening") && isScreening;
    if (isAsked && reading.shown.money === 1) {
      yield service("dust is screened", { broken: "nobody is asked about a stranger's dust" });
    }
  }
  if (payers === "refused" || payers === "the sender is refused") yield* refuse(reading);
}

function* refuse(reading: Reading): Moves {
  const { isHeld, isReleased, place } = reading.state;
  const isAsked = !isReleased || reading.without("a released payer stays released");
  if (isHeld || !isAsked) return;
  if (isReleased) yield service("screened anew", { broken: "a release stays" });
  if (reading.without("only a person declines") && place === "deciding") {
    yield* reading.told("DECLINE", { broken: "a person has seen whom it refuses" });
  } else yield service("refused: a hold", { isHeld: true });
}
