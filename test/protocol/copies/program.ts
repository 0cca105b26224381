/** The program of the specification, as every copy runs it one step at a time. It may die between any two. */
import { type At, withCopy, withRow } from "./at.ts";
import { commitMoves, endMoves, finishMoves, startMoves } from "./ends.ts";
import { has } from "./scenario.ts";
import {
  EVERYBODY,
  NEEDED,
  NO_GO,
  NONE,
  OUTCOMES,
  type Reading,
  REST,
  type SignedBytes,
  type State,
} from "./state.ts";
import { type Moves, startOf } from "./world.ts";

/** Everything that a copy may do now. */
export function* programMoves(at: At): Moves {
  const { scenario, copy } = at;
  if (copy.reading !== null || copy.commits !== null) {
    yield ["crashes", withCopy(at, { reading: null, commits: null, ...startOf(scenario) })];
  }
  if (copy.isStarting) yield* startMoves(at);
  else if (copy.row.ends !== null) yield* finishMoves(at, copy.row.ends);
  else {
    yield* commitMoves(at);
    if (copy.reading === null) yield ["reads", withCopy(at, { reading: read(at) })];
    else yield* uses(at, copy.reading);
  }
}

function read({ scenario, state, copy }: At): Reading {
  const isAlive = state.bytes.some(({ chunk, what }) => chunk === 0 && what !== NO_GO);
  return {
    markers: state.markers,
    balance: state.balance,
    isWindowOver: state.isWindowOver,
    isDead: scenario.about === "told" && !(copy.row.signed > 0 && isAlive),
    isLongAgo: scenario.about === "told" && copy.youth === 0,
  };
}

/** Every act begins with a whole reading, and uses it up. */
function* uses(at: At, reading: Reading): Moves {
  const { outcomes } = at.copy.row;
  const shown = reading.markers.map((marker, chunk) =>
    marker === NONE ? (outcomes[chunk] ?? NONE) : marker,
  );
  const [first = NONE, second = NONE] = shown;
  if (shown.some((outcome, chunk) => outcome !== outcomes[chunk])) yield adopts(at, shown);
  else if (first === NONE) yield* undecided(at, reading);
  else if (at.scenario.about === "told") return;
  else if (first !== NO_GO && second === NONE) yield* signsChunk(at, 1);
  else if (reading.balance > 0) yield signs(at, REST, reading.balance);
}

function adopts(at: At, outcomes: readonly number[]): readonly [string, Partial<State>] {
  let { toldPaid, toldUnpaid } = at.state;
  for (const [chunk, members] of [[0, 1], [2]].entries()) {
    const outcome = OUTCOMES[chunk]?.[outcomes[chunk] ?? NONE];
    if (outcome === undefined) continue;
    for (const member of members) {
      if (outcome.recipients.includes(member)) toldPaid |= 1 << member;
      else toldUnpaid |= 1 << member;
    }
    if (outcome.isNoGo === true) toldUnpaid = EVERYBODY;
  }
  return ["adopts what stands, and tells it", { ...withRow(at, { outcomes }), toldPaid, toldUnpaid }];
}

function* undecided(at: At, reading: Reading): Moves {
  const { scenario } = at;
  const { phase } = at.copy.row;
  if (phase === "waiting") yield* waiting(at, reading);
  if (phase === "found") {
    yield* signsChunk(at, 0);
    yield ["is declined by a person", withRow(at, { phase: "refusing" })];
    if (!has(scenario, "K6: later chunks wait for the final go")) yield* signsChunk(at, 1);
  }
  if (phase === "over" && reading.balance > 0) yield ["finds late money", withRow(at, { phase: "refusing" })];
  if (phase === "refusing") yield* refusing(at, reading);
}

function* waiting(at: At, { balance, isWindowOver }: Reading): Moves {
  if (balance >= NEEDED) yield ["finds the money", withRow(at, { phase: "found" })];
  else if (isWindowOver && balance > 0) {
    yield ["finds too little when the window is over", withRow(at, { phase: "refusing" })];
  } else if (isWindowOver) yield* endMoves(at, "finds nothing when the window is over", "failed");
  if (balance === 0) yield* endMoves(at, "is cancelled", "cancelled");
}

function* refusing(at: At, { balance, isDead, isLongAgo }: Reading): Moves {
  const { scenario } = at;
  yield signs(at, 0, NO_GO);
  if (scenario.about === "told") {
    const isDeadEnough =
      isDead || !has(scenario, "K17: an end without a decision waits until own attempts are dead");
    const isLateEnough =
      isLongAgo || !has(scenario, "K17: an end without a decision waits 151 blocks after a start");
    if (isDeadEnough && isLateEnough) yield* endMoves(at, "is worth less than its cost", "failed");
  }
  if (!has(scenario, "K7: rests wait until all is decided") && balance > 0) {
    yield signs(at, REST, balance);
    yield ["tells it refunded", { ...withRow(at, {}), toldUnpaid: EVERYBODY }];
  }
}

/** Any outcome that pays somebody, or gives up chunk 1. Where only what is told matters, chunk 0 is paid to all. */
function* signsChunk(at: At, chunk: number): Moves {
  const isAboutTold = at.scenario.about === "told";
  for (const [what, { isNoGo }] of (OUTCOMES[chunk] ?? []).entries()) {
    if (isNoGo !== true && !(isAboutTold && what > 0)) yield signs(at, chunk, what);
  }
}

function signs(at: At, chunk: number, what: number): readonly [string, Partial<State>] {
  const others = at.state.bytes.filter((bytes) => bytes.chunk !== chunk || bytes.what !== what);
  const bytes = [...others, { chunk, what, life: 2 }].toSorted(inOrder);
  const isKept = at.scenario.about === "told" && chunk === 0 && what !== NO_GO;
  const signed = isKept ? at.copy.row.signed | (1 << what) : at.copy.row.signed;
  const name =
    chunk === REST ? `a rest of ${what}` : `chunk ${chunk}: ${OUTCOMES[chunk]?.[what]?.name ?? ""}`;
  return [`signs ${name}`, { ...withRow(at, { signed }), bytes }];
}

function inOrder(one: SignedBytes, other: SignedBytes): number {
  return one.chunk - other.chunk || one.what - other.what;
}
