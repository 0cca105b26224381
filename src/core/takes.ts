/** The arguments and options of a command, declared once as data: a parser reads it, help shows it, and types are inferred from it. */

/** An argument or an option. Its value is of type `Value` once it was read. */
export interface Taken<Value> {
  readonly is: "argument" | "option" | "flag";
  /** As help shows it, such as `<FILE>`. */
  readonly syntax: string;
  readonly help: string;
  readonly isNeeded?: true;
  /** The words that it may be. */
  readonly words?: readonly string[];
  readonly fallback?: unknown;
  /** The fallback, as help shows it. */
  readonly shown?: string;
  /** Reads a value; `before` is that of the same option before. Throws `NotTaken`. */
  readonly read?: (given: string, before: unknown) => unknown;
  /** Never there: it carries the type. */
  readonly value?: Value;
}

export type Takes = Readonly<Record<string, Taken<unknown>>>;

/** The values of what a command takes. */
export type ValuesOf<T> = { readonly [Name in keyof T]: T[Name] extends Taken<infer Value> ? Value : never };

/** A value that is not taken; the sentence says what would be right. */
export class NotTaken extends Error {
  override readonly name = "NotTaken";
}

/** An argument that has to be given. */
export const argument = (word: string, help: string): Taken<string> => ({
  is: "argument",
  syntax: `<${word}>`,
  help,
});

/** An argument that may be left out, with its default. */
export const optionalArgument = (word: string, help: string): Taken<string | undefined> => ({
  is: "argument",
  syntax: `[${word}]`,
  help,
});

/** A required word out of these. */
export const neededChoice = <const Word extends string>(
  words: readonly Word[],
  help: string,
): Taken<Word> => ({
  is: "argument",
  syntax: `<${words.join("|")}>`,
  help,
  words,
});

/** One of these words; the first is the default. */
export const chosenArgument = (words: readonly [string, ...string[]], help: string): Taken<string> => ({
  is: "argument",
  syntax: `[${words.join("|")}]`,
  help,
  words,
  fallback: words[0],
});

/** Any number of arguments. */
export const manyArguments = (word: string, help: string): Taken<readonly string[]> => ({
  is: "argument",
  syntax: `[${word}...]`,
  help,
  fallback: [],
  shown: "all",
});

export const flag = (help: string): Taken<boolean> => ({ is: "flag", syntax: "", help });

const option = <Value>(word: string, help: string, more: Partial<Taken<Value>>): Taken<Value> => ({
  is: "option",
  syntax: `<${word}>`,
  help,
  ...more,
});

export const text = (word: string, help: string): Taken<string | undefined> =>
  option(word, help, { read: valueOf });

export const neededText = (word: string, help: string): Taken<string> =>
  option(word, help, { read: valueOf, isNeeded: true });

/** An option that has a value when it is left out. */
export const textOr = (fallback: string, word: string, help: string): Taken<string> =>
  option(word, help, { read: valueOf, fallback });

/** An option that may be given several times. */
export const manyTexts = (word: string, help: string): Taken<readonly string[] | undefined> =>
  option(word, help, {
    read: (given, before) => [...(Array.isArray(before) ? (before as string[]) : []), valueOf(given)],
  });

/** Several values in one, with commas between them. */
export const commas = (word: string, help: string): Taken<readonly string[] | undefined> =>
  option(`${word},…`, help, { read: (given) => valueOf(given).split(",") });

/** One of these words. */
export const oneOf = <const Word extends string>(
  word: string,
  words: readonly Word[],
  help: string,
): Taken<Word | undefined> => option(word, help, { words });

/** A required word out of these. */
export const neededOneOf = <const Word extends string>(
  word: string,
  words: readonly Word[],
  help: string,
): Taken<Word> => option(word, help, { words, isNeeded: true });

/** One of these words; the first is the default. */
export const oneOfOr = <const Word extends string>(
  word: string,
  words: readonly [Word, ...Word[]],
  help: string,
): Taken<Word> => option(word, help, { words, fallback: words[0] });

/** The bounds of a number, both inclusive. */
interface Bounds {
  readonly least: number;
  readonly most: number;
}

export const PORTS: Bounds = { least: 0, most: 65_535 };

/** A whole number with a default. */
export const wholeNumber = (
  word: string,
  help: string,
  { fallback, ...bounds }: Bounds & { readonly fallback: number },
): Taken<number> => option(word, help, { read: numberWithin(bounds), fallback });

export const optionalNumber = (word: string, help: string, bounds: Bounds): Taken<number | undefined> =>
  option(word, help, { read: numberWithin(bounds) });

function numberWithin({ least, most }: Bounds): (given: string) => number {
  return (given) => {
    const number = /^\d{1,6}$/.test(given) ? Number(given) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new NotTaken(`Expected a whole number from ${least} to ${most}.`);
  };
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A time such as 30m, in milliseconds. `most` is written as such a time, too. */
export const duration = (word: string, help: string, most: string): Taken<number | undefined> =>
  option(word, help, {
    read(given) {
      const ms = msOf(given);
      if (ms <= msOf(most)) return ms;
      throw new NotTaken(`Expected a time such as 90s, 30m, 24h or 7d, at most ${most}.`);
    },
  });

function msOf(given: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6})([smhd])$/.exec(given) ?? [];
  return count === "" ? Number.NaN : Number(count) * UNITS[unit as keyof typeof UNITS];
}

/** An option whose value was forgotten would take the next option for it. */
function valueOf(given: string): string {
  if (!given.startsWith("--")) return given;
  throw new NotTaken("Expected a value before the next option.");
}
