/** What may be read of the chain, and what a reading says when it is used. */
import type { Endpoints, LevelsRule, Scenario } from "./scenario.ts";
import type { Answer, Reading, State } from "./state.ts";

/** How many endpoints must agree. */
const WITNESSES = 2;

/** What the liar says among two witnesses at one slot: nothing, or more than ever comes. */
const LIES = [0, 13];

/** The slot of an answer that is far ahead of all others. */
const FAR_AHEAD = 99;

const HONEST: Endpoints = { kind: "two honest", second: "behind for a while" };

/** A way to read. */
export interface Read {
  readonly act: string;
  readonly reading: Reading;
}

/** Every reading that a process may make now. */
export function* readings(scenario: Scenario, state: State, process: number): Generator<Read> {
  const endpoints = scenario.endpoints ?? HONEST;
  if (endpoints.kind === "own slots") {
    yield* withOwnSlots(scenario, state, endpoints);
    return;
  }
  yield { act: "reads", reading: atOneSlot(state, state.behind.balance, state.behind.slot) };
  if (endpoints.kind === "two honest" || process > 0) return;
  for (const lie of LIES) {
    yield { act: `reads, one witness says ${lie}`, reading: atOneSlot(state, lie, state.slot) };
  }
}

/** The honest witness is up to date, the other says so much. */
function atOneSlot(state: State, other: number, slot: number): Reading {
  const { balance, turn } = state;
  const [least, most] = [Math.min(balance, other), Math.max(balance, other)];
  return { balance, least, most, slot, answers: [], turn, rest: restSeen(state, slot) };
}

function* withOwnSlots(
  scenario: Scenario,
  state: State,
  { asked, lies }: Extract<Endpoints, { kind: "own slots" }>,
): Generator<Read> {
  const now = { balance: state.balance, slot: state.slot };
  const liarsSlot = has(scenario, "K15: answers are at most 150 slots apart") ? state.slot : FAR_AHEAD;
  const slot = has(scenario, "K15: each answer counts with its own slot") ? liarsSlot : state.behind.slot;
  for (const lie of lies) {
    const liar = { balance: lie, slot };
    const ways = asked === 3 ? [[now, state.behind]] : [[now], [state.behind]];
    for (const honest of ways) {
      yield { act: `reads, the liar says ${lie}`, reading: withAnswers(state, honest, liar) };
    }
  }
}

function withAnswers(state: State, honest: readonly Answer[], liar: Answer): Reading {
  const [first = liar] = honest;
  return {
    balance: first.balance,
    least: 0,
    most: 0,
    slot: state.slot,
    answers: [...honest, liar],
    turn: state.turn,
    rest: restSeen(state, first.slot),
  };
}

/** A landing is seen by who has come to its slot, a death by everybody. */
function restSeen({ rest }: State, slot: number): Reading["rest"] {
  if (rest === null || rest.isAlive) return "open";
  if (rest.landedAt === null) return "dead";
  return slot >= rest.landedAt ? "landed" : "open";
}

/** What a reading says to the present rows, or null if it is too old, or says too little. */
export function judged(scenario: Scenario, { bookedAt }: State, reading: Reading): Reading | null {
  if (scenario.endpoints?.kind === "own slots") return judgedBySlots(scenario, bookedAt, reading);
  const isOld =
    reading.slot < bookedAt && has(scenario, "K15: no reading counts that is older than the last booking");
  const mustBeEqual = !has(scenario, "K15: witnesses need not say the same");
  return isOld || (mustBeEqual && reading.least !== reading.most) ? null : reading;
}

function judgedBySlots(scenario: Scenario, bookedAt: number, reading: Reading): Reading | null {
  const hasOwn = has(scenario, "K15: each answer counts with its own slot");
  const oldest = Math.min(...reading.answers.map(({ slot }) => slot));
  const counting = reading.answers.filter(({ slot }) => !hasOwn || slot >= bookedAt);
  if (counting.length < WITNESSES || (!hasOwn && oldest < bookedAt)) return null;
  const balances = counting.map(({ balance }) => balance).toSorted((a, b) => a - b);
  const counts = has(scenario, "K15: two of the three count, not all") ? WITNESSES : balances.length;
  return {
    ...reading,
    least: balances.at(-counts) ?? 0,
    most: balances[counts - 1] ?? 0,
    slot: hasOwn ? Math.max(...counting.map(({ slot }) => slot)) : oldest,
  };
}

function has(scenario: Scenario, rule: LevelsRule): boolean {
  return scenario.without !== rule;
}
