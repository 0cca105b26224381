/** What happens to a transfer without the service: bytes land or die, other copies are first, people hold, witnesses lie. */
// modules: private
import type { Scenario } from "./scenario.ts";
import {
  canPay,
  type Marker,
  type Move,
  type Moves,
  type Outcome,
  service,
  type TransferState,
  world,
} from "./state.ts";

/** Everything that may happen now. */
export function* happenings(state: TransferState, { sends }: Scenario): Moves {
  const { kind, isHeld, lie, isDayOver, hasPurse, payees, marker, balance, isOwn } = state;
  if (!isHeld) yield world("a hold opens", { isHeld: true });
  // By a person, or never: of a go he declines the order, of an act it ends. A rest, and what a lie had told, wait for him.
  else {
    yield (sends === "rest" || lie !== "none" ? service : world)("a person releases it", { isHeld: false });
  }
  if (kind === "redirect" && !isDayOver) yield service("a day passes", { isDayOver: true });
  if (kind === "chunk" && lie === "none" && marker === null && state.place !== "done") {
    yield world("all witnesses say that the marker stands", { lie: "told" });
  }
  if (lie === "told") yield service("all witnesses tell the truth", { lie: "over" });
  yield hasPurse
    ? world("the purse is empty", { hasPurse: false })
    : service("the purse is filled", { hasPurse: true });
  if (payees > 0) yield world("a payee cannot take it", { payees: payees - 1 });
  for (const outcome of state.bytes) yield* landings(state, outcome);
  if (marker === null) yield* otherCopies(state);
  if (kind === "rest" && balance === 2 && !isOwn) yield world("somebody takes it", { balance: 0 });
}

function* landings(state: TransferState, outcome: Outcome): Moves {
  const { kind, balance, marker, paid, sent } = state;
  const bytes = state.bytes.filter((each) => each !== outcome);
  yield service(`the bytes of ${outcome} die`, { bytes });
  const isPaying = outcome !== "nobody";
  const taken = isPaying ? { paid: paid + 2, balance: 0 } : {};
  const act = `${outcome} lands`;
  if (isPaying && balance < 2) return;
  if (kind === "rest") yield service(act, { bytes, isOwn: true, ...taken });
  else if (marker === null && canPay(state, outcome)) {
    const isAct = kind === "redirect";
    const made: Marker = isAct ? "this act" : outcome;
    yield service(act, { bytes, isOwn: true, marker: made, sent: sent + (isAct ? 1 : 0), ...taken });
  }
}

function* otherCopies(state: TransferState): Moves {
  const { kind, balance, paid, sent } = state;
  const lands = (marker: Marker, to: Partial<TransferState>): Move =>
    world(`another copy lands ${marker}`, { marker, ...to });
  const canTake = canPay(state, "all") && balance === 2;
  if (kind === "chunk") {
    yield lands("nobody", {});
    if (canTake) yield lands("all", { paid: paid + 2, balance: 0 });
  }
  if (kind !== "redirect") return;
  yield lands("another act", {});
  if (!canTake) return;
  yield lands("this act", { sent: sent + 1, paid: paid + 2, balance: 0 });
  yield lands("this act, less", { sent: sent + 1, paid: paid + 1, balance: 1 });
}
