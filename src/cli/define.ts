/**
 * The arguments and options of a command, declared once: the parser reads it, help shows it, and types are inferred from it.
 */
import { Argument, InvalidArgumentError, Option, type Command as Parser } from "commander";
import type { Print } from "./command.ts";

/** An argument or an option. The parser learns of it under its name; its value is of type `Value` once it was read. */
export interface Taken<Value> {
  readonly addTo: (parser: Parser, name: string) => unknown;
  readonly isArgument: boolean;
  /** Never there: it carries the type. */
  readonly value?: Value;
}

type Takes = Readonly<Record<string, Taken<unknown>>>;

/** The values of what a command takes. */
export type ValuesOf<T> = { readonly [Name in keyof T]: T[Name] extends Taken<infer Value> ? Value : never };

/** A command. */
export interface CommandRow {
  /** A single word such as `dev`, or a word after its group, such as `instance list`. */
  readonly name: string;
  /** Its first sentence stands in the list of all commands. */
  readonly help: string;
  readonly takes: Takes;
  readonly run: (values: Readonly<Record<string, unknown>>, print: Print) => Promise<void>;
}

/** Declares a command. `run` loads the code that carries it out: help and refusals load none. */
export function command<T extends Takes>(row: {
  readonly name: string;
  readonly help: string;
  readonly takes: T;
  readonly run: (values: ValuesOf<T>, print: Print) => Promise<void>;
}): CommandRow {
  return { ...row, run: (values, print) => row.run(values as ValuesOf<T>, print) };
}

function taken<Value>(argument: (name: string) => Argument): Taken<Value> {
  return { isArgument: true, addTo: (parser, name) => parser.addArgument(argument(name)) };
}

function option<Value>(more: string, change: (option: Option) => Option, help: string): Taken<Value> {
  return {
    isArgument: false,
    addTo: (parser, name) => parser.addOption(change(new Option(`${flagOf(name)}${more}`, help))),
  };
}

/** The parser checks required options last: a misspelt option is told first. */
function needed<Value>(taking: Taken<Value | undefined>): Taken<Value> {
  return {
    isArgument: false,
    addTo: (parser, name) => {
      taking.addTo(parser, name);
      const { flags = "" } = parser.options.at(-1) ?? {};
      parser.hook("preAction", () => {
        if (parser.getOptionValue(name) !== undefined) return;
        parser.error(`required option '${flags}' not specified`);
      });
    },
  };
}

function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** An argument that has to be given. */
export const argument = (word: string, help: string): Taken<string> =>
  taken(() => new Argument(`<${word}>`, help));

/** An argument that may be left out, with its default. */
export const optionalArgument = (word: string, help: string): Taken<string | undefined> =>
  taken(() => new Argument(`[${word}]`, help));

/** A required word out of these. */
export const neededChoice = <const Word extends string>(words: readonly Word[], help: string): Taken<Word> =>
  taken(() => new Argument(`<${words.join("|")}>`, help).choices(words));

/** One of these words; the first is the default. */
export const chosenArgument = (words: readonly [string, ...string[]], help: string): Taken<string> =>
  taken(() => new Argument(`[${words.join("|")}]`, help).choices(words).default(words[0]));

/** Any number of arguments. */
export const manyArguments = (word: string, help: string): Taken<readonly string[]> =>
  taken(() => new Argument(`[${word}...]`, help).default([], "all"));

export const flag = (help: string): Taken<boolean> => ({
  isArgument: false,
  // A default of the option's own would stand in help.
  addTo: (parser, name) => parser.option(flagOf(name), help).setOptionValueWithSource(name, false, "default"),
});

export const text = (word: string, help: string): Taken<string | undefined> =>
  option(` <${word}>`, (each) => each.argParser(valueOf), help);

export const neededText = (word: string, help: string): Taken<string> => needed(text(word, help));

/** An option that has a value when it is left out. */
export const textOr = (fallback: string, word: string, help: string): Taken<string> =>
  option(` <${word}>`, (each) => each.argParser(valueOf).default(fallback), help);

/** An option that may be given several times. */
export const manyTexts = (word: string, help: string): Taken<readonly string[] | undefined> =>
  option(
    ` <${word}>`,
    (each) =>
      each.argParser<readonly string[] | undefined>((given, before) => [...(before ?? []), valueOf(given)]),
    help,
  );

/** Several values in one, with commas between them. */
export const commas = (word: string, help: string): Taken<readonly string[] | undefined> =>
  option(` <${word},…>`, (each) => each.argParser((given) => valueOf(given).split(",")), help);

/** One of these words. */
export const oneOf = <const Word extends string>(
  word: string,
  words: readonly Word[],
  help: string,
): Taken<Word | undefined> => option(` <${word}>`, (each) => each.choices(words), help);

/** A required word out of these. */
export const neededOneOf = <const Word extends string>(
  word: string,
  words: readonly Word[],
  help: string,
): Taken<Word> => needed(oneOf(word, words, help));

/** One of these words; the first is the default. */
export const oneOfOr = <const Word extends string>(
  word: string,
  words: readonly [Word, ...Word[]],
  help: string,
): Taken<Word> => option(` <${word}>`, (each) => each.choices(words).default(words[0]), help);

/** The bounds of a number, both inclusive. */
interface Bounds {
  readonly least: number;
  readonly most: number;
}

export const PORTS: Bounds = { least: 0, most: 65_535 };

/** A whole number, which has to be given where there is no default. */
export const wholeNumber = (
  word: string,
  help: string,
  { least, most, fallback }: Bounds & { readonly fallback: number },
): Taken<number> =>
  option(` <${word}>`, (each) => each.argParser(numberWithin({ least, most })).default(fallback), help);

export const optionalNumber = (word: string, help: string, bounds: Bounds): Taken<number | undefined> =>
  option(` <${word}>`, (each) => each.argParser(numberWithin(bounds)), help);

function numberWithin({ least, most }: Bounds): (given: string) => number {
  return (given) => {
    const number = /^\d{1,6}$/.test(given) ? Number(given) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  };
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A time such as 30m, in milliseconds. `most` is written as such a time, too. */
export const duration = (word: string, help: string, most: string): Taken<number | undefined> =>
  option(
    ` <${word}>`,
    (each) =>
      each.argParser((given) => {
        const ms = msOf(given);
        if (ms <= msOf(most)) return ms;
        throw new InvalidArgumentError(`Expected a time such as 90s, 30m, 24h or 7d, at most ${most}.`);
      }),
    help,
  );

function msOf(given: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6})([smhd])$/.exec(given) ?? [];
  return count === "" ? Number.NaN : Number(count) * UNITS[unit as keyof typeof UNITS];
}

/** An option whose value was forgotten would take the next option for it. */
function valueOf(given: string): string {
  if (!given.startsWith("--")) return given;
  throw new InvalidArgumentError("Expected a value before the next option.");
}
