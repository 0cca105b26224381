/**
 * How an order ends without a decision. With a journal it is two commits: the first closes the row to all else, then the
 * line is written, then the second ends it and tells. Every start finishes what the journal says. What stands here besides
 * is what goes wrong without one of these.
 */
import { type At, withCopy, withRow } from "./at.ts";
import { has, type Scenario } from "./scenario.ts";
import { type End, type Line, PHASES, type State } from "./state.ts";
import type { Moves } from "./world.ts";

type Journal = "none" | "a line, then one commit" | "a line without a state, then one commit" | "two commits";

function journalOf(scenario: Scenario): Journal {
  const hasLine = has(scenario, "K17: the journal has a line of each end without a decision");
  if (scenario.about === "payments" || !hasLine) return "none";
  if (!has(scenario, "K17: the row is closed before its line is written")) return "a line, then one commit";
  const hasState = has(scenario, "K17: the line has the state and the status of the order");
  return hasState ? "two commits" : "a line without a state, then one commit";
}

/** An order that has no decision begins to end. */
export function* endMoves(at: At, why: string, status: End): Moves {
  const journal = journalOf(at.scenario);
  const { commits, row } = at.copy;
  if (row.status !== null) yield [`${why}: is over again`, withRow(at, { phase: "over" })];
  else if (journal === "none") {
    yield [`${why}: it is over`, { ...withRow(at, { phase: "over" }), toldEnd: "over" }];
  } else if (journal === "two commits") yield [`${why}: closes the row`, withRow(at, { ends: status })];
  else if (commits === null) {
    const line = { status, from: row.phase };
    yield [`${why}: writes the line`, { ...withCopy(at, { reading: null, commits: line }), journal: line }];
  }
}

/** A closed row: its line, then its end. */
export function* finishMoves(at: At, status: End): Moves {
  if (at.state.journal === null) yield ["writes the line", { journal: { status, from: null } }];
  else yield [`is over and tells ${status}`, ended(at, status)];
}

/** Without closed rows: the commit after the line, which something else may have come before. */
export function* commitMoves(at: At): Moves {
  const { commits, row } = at.copy;
  if (commits === null) return;
  if (row.phase === commits.from) {
    yield [`commits the end, and tells ${commits.status}`, ended(at, commits.status)];
  } else {
    const change = { ...withCopy(at, { commits: null }), journal: null };
    yield ["cannot commit the end, and takes the line back", change];
  }
}

/** What a process does first. */
export function* startMoves(at: At): Moves {
  const { journal } = at.state;
  const { row } = at.copy;
  const started = { ...at, copy: { ...at.copy, isStarting: false } };
  if (journal === null || row.phase === "over") yield ["starts", withCopy(started, {})];
  else if (journal.from === null) {
    yield [`starts, and tells ${journal.status} as its line says`, ended(started, journal.status)];
  } else yield ["starts, and reads the line", withLine(started, journal, journal.from)];
}

function withLine(at: At, { status }: Line, from: Line["from"] & string): Partial<State> {
  const { phase } = at.copy.row;
  const ignoresState = journalOf(at.scenario) === "a line without a state, then one commit";
  const isWithin = PHASES.indexOf(phase) <= PHASES.indexOf(from);
  if (!isWithin && !ignoresState) return { ...withCopy(at, {}), journal: null };
  const wrong = status === "cancelled" && phase !== "waiting" ? "an order at work is not cancelled" : null;
  const end = ended(at, status);
  return { ...end, wrong: end.wrong ?? wrong };
}

/** The row is over, and its status is told for the first time by this database. */
function ended(at: At, status: End): Pick<State, "copies" | "toldEnd" | "wrong"> {
  const { toldEnd } = at.state;
  const row = { ...at.copy.row, phase: "over", ends: null, status } as const;
  const wrong = toldEnd === null || toldEnd === status ? null : "a final status never changes";
  return { ...withCopy(at, { row, commits: null }), toldEnd: status, wrong };
}
