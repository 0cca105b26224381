/** How the benches take figures, and print them. */

/** One measured figure; further fields say what it was measured beside. */
export interface Figure {
  readonly name: string;
  readonly perSecond?: number;
  readonly [fact: string]: string | number | undefined;
}

/** Prints a figure in one line as soon as it is there. */
export function report({ name, perSecond, ...facts }: Figure): void {
  const rate = perSecond === undefined ? "" : `${Math.round(perSecond).toLocaleString("en")} /s`;
  const rest = Object.entries(facts).map(([fact, value]) => `${fact} ${shown(value)}`);
  process.stdout.write(`${name.padEnd(44)}${rate.padStart(12)}   ${rest.join(" · ")}\n`);
}

function shown(value: string | number | undefined): string {
  if (typeof value !== "number") return String(value);
  return Number.isInteger(value) ? value.toLocaleString("en") : value.toPrecision(3);
}

/** What some work cost: units a second, and milliseconds of this process' CPU for each. */
export interface Cost {
  readonly perSecond: number;
  readonly cpuMs: number;
}

/** Milliseconds that this process has computed. */
export function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

export async function costOf(units: number, work: () => void | Promise<void>): Promise<Cost> {
  const cpu = ownCpuMs();
  const { seconds } = await timed(async () => work());
  return { perSecond: units / seconds, cpuMs: (ownCpuMs() - cpu) / units };
}

/** Seconds that `work` takes, and what it answers. */
export async function timed<T>(work: () => Promise<T>): Promise<{ seconds: number; result: T }> {
  const began = performance.now();
  const result = await work();
  return { seconds: (performance.now() - began) / 1_000, result };
}

/** How long something is measured again and again: so often, or until so many seconds are over. */
interface Bounds {
  readonly rounds: number;
  readonly seconds: number;
}

/** Measures in turns, so that a machine that gets slower slows all alike; what each has found, oldest first. Two rounds at least. */
export async function inTurns(
  measures: readonly (() => Promise<Cost>)[],
  { rounds, seconds }: Bounds,
): Promise<readonly (readonly Cost[])[]> {
  const found = measures.map((): Cost[] => []);
  const until = performance.now() + seconds * 1_000;
  for (let round = 0; round < 2 || (round < rounds && performance.now() < until); round += 1) {
    for (const [index, measure] of measures.entries()) found[index]?.push(await measure());
  }
  return found;
}

/** The middle of all rounds but the first, in which the compiler had seen nothing. */
export function warm(rounds: readonly Cost[] | undefined): Cost {
  const later = rounds?.slice(1) ?? [];
  return {
    perSecond: median(later.map(({ perSecond }) => perSecond)),
    cpuMs: median(later.map(({ cpuMs }) => cpuMs)),
  };
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
