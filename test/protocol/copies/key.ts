/** What tells the states of the copies' search apart, in as few bytes as possible: there are millions. */
import { packed } from "../explore.ts";
import { type Copy, type End, type Line, NONE, PHASES, type Reading, type Row, type State } from "./state.ts";

const ENDS: readonly (End | "over" | null)[] = [null, "failed", "cancelled", "over"];

/** Two states with the same key are the same. */
export function keyOf(state: State): string {
  const told = (state.toldPaid * 8 + state.toldUnpaid) * 4 + ENDS.indexOf(state.toldEnd);
  const numbers = [
    bit(state.isWindowOver) + 2 * bit(state.wrong !== null),
    state.balance,
    state.deposits,
    state.fees,
    state.toSender,
    told,
    ofLine(state.journal),
    ofPair(state.markers),
    state.bytes.length,
  ];
  for (const times of state.paid) numbers.push(times);
  for (const { chunk, what, life } of state.bytes) numbers.push((chunk * 8 + what) * 4 + life);
  addRow(numbers, state.backup);
  for (const copy of state.copies) addCopy(numbers, copy);
  return packed(numbers);
}

function addCopy(numbers: number[], copy: Copy | null): void {
  addRow(numbers, copy?.row ?? null);
  if (copy === null) return;
  numbers.push((copy.youth * 2 + bit(copy.isStarting)) * 16 + ofLine(copy.commits));
  addReading(numbers, copy.reading);
}

function addRow(numbers: number[], row: Row | null): void {
  if (row === null) numbers.push(NONE);
  else {
    numbers.push(PHASES.indexOf(row.phase) * 4 + ENDS.indexOf(row.ends), ofPair(row.outcomes));
    numbers.push(row.signed * 4 + ENDS.indexOf(row.status));
  }
}

function addReading(numbers: number[], reading: Reading | null): void {
  if (reading === null) numbers.push(NONE);
  else {
    const facts = bit(reading.isWindowOver) + 2 * bit(reading.isDead) + 4 * bit(reading.isLongAgo);
    numbers.push(facts, ofPair(reading.markers), reading.balance);
  }
}

/** The outcomes of both chunks: each is below 3. */
function ofPair([first = NONE, second = NONE]: readonly number[]): number {
  return (first + 1) * 4 + second + 1;
}

/** Below 16. */
function ofLine(line: Line | null): number {
  if (line === null) return 0;
  const from = line.from === null ? 0 : 1 + PHASES.indexOf(line.from);
  return from * 3 + ENDS.indexOf(line.status);
}

function bit(flag: boolean): number {
  return flag ? 1 : 0;
}
