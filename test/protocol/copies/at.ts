/** A copy in a state, and the changes that it makes of its own row. */
import type { Scenario } from "./scenario.ts";
import type { Copy, Row, State } from "./state.ts";

/** One copy, and all around it. */
export interface At {
  readonly scenario: Scenario;
  readonly state: State;
  /** Its place among the copies. */
  readonly place: number;
  readonly copy: Copy;
}

/** The same copies, but for this one's change. */
export function withCopy({ state, place, copy }: At, change: Partial<Copy>): Pick<State, "copies"> {
  return { copies: state.copies.map((other, at) => (at === place ? { ...copy, ...change } : other)) };
}

/** A commit after a reading, which is used up by it. */
export function withRow(at: At, change: Partial<Row>): Pick<State, "copies"> {
  return withCopy(at, { reading: null, row: { ...at.copy.row, ...change } });
}
