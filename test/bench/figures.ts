/** How figures are told: a table for people, one line of JSON each for programs. */

/** One measured figure; further fields say what it was measured beside. */
export interface Figure {
  readonly name: string;
  readonly perSecond?: number;
  readonly [fact: string]: string | number | undefined;
}

/** Prints figures as they come. */
export type Report = (figure: Figure) => void;

/** One line of JSON per figure. */
export const reportJson: Report = (figure) => {
  process.stdout.write(`${JSON.stringify(figure)}\n`);
};

/** One readable line per figure. */
export const reportTable: Report = ({ name, perSecond, ...facts }) => {
  const rate = perSecond === undefined ? "" : `${Math.round(perSecond).toLocaleString("en")} /s`;
  const rest = Object.entries(facts).map(([fact, value]) => `${fact} ${shown(value)}`);
  process.stdout.write(`${name.padEnd(34)}${rate.padStart(12)}   ${rest.join(" · ")}\n`);
};

function shown(value: string | number | undefined): string {
  if (typeof value !== "number") return String(value);
  return Number.isInteger(value) ? value.toLocaleString("en") : value.toPrecision(3);
}

/** Seconds that `work` takes, and what it answers. */
export async function timed<T>(work: () => Promise<T>): Promise<{ seconds: number; result: T }> {
  const began = performance.now();
  const result = await work();
  return { seconds: (performance.now() - began) / 1_000, result };
}

/** What one window of a measure found. */
interface Window {
  readonly perSecond: number;
}

/** The first window of a measure, when the compiler had seen nothing of it, and the middle one of the last three. */
export interface Warmed<W extends Window = Window> {
  readonly cold: W;
  readonly warm: W;
}

/** Windows agree when the slowest has nine tenths of the fastest. */
const AGREED = 0.9;
/** On a busy machine they never do. */
const MOST_WINDOWS = 12;

/** Measures in turns, until three windows in a row of each agree. */
export async function warmed<W extends Window>(
  measures: readonly (() => Promise<W>)[],
): Promise<readonly Warmed<W>[]> {
  const windows = measures.map((): W[] => []);
  const last = (of: readonly W[]): W[] =>
    of.slice(-3).toSorted((one, other) => one.perSecond - other.perSecond);
  const isWarm = (of: readonly W[]): boolean => {
    const [slowest, , fastest] = last(of);
    return slowest !== undefined && fastest !== undefined && slowest.perSecond >= AGREED * fastest.perSecond;
  };
  for (let round = 0; round < MOST_WINDOWS && !windows.every(isWarm); round++) {
    for (const [index, measure] of measures.entries()) windows[index]?.push(await measure());
  }
  return windows.map((of) => {
    const [cold, , middle] = [of[0], ...last(of)];
    if (cold === undefined || middle === undefined) throw new Error("a measure has no window");
    return { cold, warm: middle };
  });
}

/** Runs `work` for 0 … total − 1, so many at a time. */
export async function inParallel(
  total: number,
  atOnce: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < total; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, total) }, lane));
}

/** The one in the middle, 0 of none. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The value below which this share of them lies, 0 of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
