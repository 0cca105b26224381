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
