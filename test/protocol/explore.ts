/** Breadth-first search through all states of a small system, for the shortest way to one that must not be. */

/** A system to be searched. */
export interface System<State, Act> {
  readonly start: State;
  /** Every state that one act leads to. */
  readonly next: (state: State) => Iterable<Step<State, Act>>;
  /** Two states with the same key are the same. */
  readonly key: (state: State) => string;
  /** The promise that the state breaks, or null. */
  readonly broken: (state: State) => string | null;
}

/** One act and the state that it leads to. */
export interface Step<State, Act> {
  readonly act: Act;
  readonly state: State;
}

/** What a search found. */
export interface Search<State, Act> {
  /** The first broken promise and the shortest way there, or null. */
  readonly violation: Violation<State, Act> | null;
  readonly states: number;
  /** The number of acts of the longest way that was followed. */
  readonly depth: number;
  /** True when no state was left to look at: then the bound has cut nothing off. */
  readonly isComplete: boolean;
}

/** A way to a state that breaks a promise. */
export interface Violation<State, Act> {
  readonly promise: string;
  readonly acts: readonly Act[];
  readonly state: State;
}

interface Visit<State, Act> {
  readonly state: State;
  readonly came: Came<State, Act> | null;
}

interface Came<State, Act> {
  readonly act: Act;
  readonly from: Visit<State, Act>;
}

/** Looks at every state within `bound` acts of the start. */
export function explore<State, Act>(system: System<State, Act>, bound: number): Search<State, Act> {
  const seen = new Set([system.key(system.start)]);
  let layer: Visit<State, Act>[] = [{ state: system.start, came: null }];
  for (let depth = 0; ; depth += 1) {
    for (const visit of layer) {
      const promise = system.broken(visit.state);
      if (promise === null) continue;
      const violation = { promise, acts: actsTo(visit), state: visit.state };
      return { violation, states: seen.size, depth, isComplete: false };
    }
    const further = depth < bound ? layer.flatMap((visit) => unseen(system, visit, seen)) : [];
    if (further.length === 0) {
      return { violation: null, states: seen.size, depth, isComplete: depth < bound };
    }
    layer = further;
  }
}

function unseen<State, Act>(
  system: System<State, Act>,
  from: Visit<State, Act>,
  seen: Set<string>,
): Visit<State, Act>[] {
  const visits: Visit<State, Act>[] = [];
  for (const { act, state } of system.next(from.state)) {
    const key = system.key(state);
    if (seen.has(key)) continue;
    seen.add(key);
    visits.push({ state, came: { act, from } });
  }
  return visits;
}

function actsTo<State, Act>(last: Visit<State, Act>): Act[] {
  const acts: Act[] = [];
  for (let { came } = last; came !== null; came = came.from.came) acts.unshift(came.act);
  return acts;
}
