/** Reads the arguments of a command strictly: an unknown argument is refused by name, with the right form. */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { UsageError } from "./command.ts";

/** The options of a command. */
export type Options = NonNullable<ParseArgsConfig["options"]>;
/** Arguments as they were read by options. */
export type Parsed<O extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; allowPositionals: true; options: O }>
>;

/** Throws `UsageError` for an unknown option, a missing value, or a superfluous value. */
export function readArguments<O extends Options>(args: readonly string[], options: O): Parsed<O> {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code?.startsWith("ERR_PARSE_ARGS") !== true) throw cause;
    // Node's first sentence names the option. What follows is about arguments that begin with a dash; none of ours do.
    const [problem = message] = message.split(/\.\s/);
    const expected = Object.entries(options).map(([name, { type }]) =>
      type === "boolean" ? `--${name}` : `--${name} VALUE`,
    );
    throw new UsageError(`${problem}: expected ${expected.join(", ")}`, { cause });
  }
}

/** Options that name the service of a command. */
export const WHOSE = {
  data: { type: "string" },
  service: { type: "string" },
  debug: { type: "boolean", default: false },
} as const;

/** The bounds of a number, both inclusive. */
interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** The bounds of a port; 0 stands for any free port. */
export const PORTS: Bounds = { least: 0, most: 65_535 };

/** The number that an option's text stands for. Throws `UsageError` outside the bounds. */
export function wholeNumber(option: string, text: string, { least, most }: Bounds): number {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(`${option} ${text}: expected a whole number from ${least} to ${most}`);
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof UNITS;

/** The bounds of a duration. */
interface Durations {
  /** The unit of the example in the error. */
  readonly unit: Unit;
  /** Milliseconds. */
  readonly most: number;
}

/** The milliseconds that a text such as `90s`, `30m`, `24h` or `7d` stands for. Throws `UsageError` for more than `most`. */
export function duration(option: string, text: string, { unit, most }: Durations): number {
  const [, count = "", given = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = count === "" ? Number.NaN : Number(count) * UNITS[given as Unit];
  if (ms <= most) return ms;
  const largest = `${Math.floor(most / UNITS[unit])}${unit}`;
  throw new UsageError(`${option} ${text}: expected a time such as 90s, 30m, 24h or 7d, at most ${largest}`);
}

/** Throws `UsageError` when an option's text is none of the expected ones. */
export function oneOf(option: string, text: string, expected: readonly string[]): void {
  if (!expected.includes(text)) throw new UsageError(`${option} ${text}: expected ${expected.join(" or ")}`);
}

/** The one argument that a command takes, in the words for none and for more than one. */
export function onlyArgument(
  command: string,
  [what, only = what]: readonly [what: string, only?: string],
  [first, second]: readonly string[],
): string {
  if (first === undefined) throw new UsageError(`${command} expects ${what}`);
  if (second !== undefined) throw new UsageError(`${command} takes ${only}, and no "${second}"`);
  return first;
}

/** Throws `UsageError` when there is any. */
export function noArgument(command: string, [first]: readonly string[]): void {
  if (first !== undefined) throw new UsageError(`${command} takes no argument "${first}"`);
}
