/** Declares commands: arguments and options as data, from which the parser is built. */
import { Argument, InvalidArgumentError, Option, type Command as Parser } from "commander";
import { NotTaken, type Taken, type Takes, type ValuesOf } from "../core/takes.ts";
import type { Print } from "./command.ts";

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

/** Tells the parser of what the command takes under this name. */
export function addTo(parser: Parser, name: string, taken: Taken<unknown>): void {
  const { is, syntax, help, isNeeded } = taken;
  const flags = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  if (is === "flag") {
    // A default of the option's own would stand in help.
    parser.option(flags, help).setOptionValueWithSource(name, false, "default");
  } else if (is === "argument") {
    parser.addArgument(prepared(new Argument(syntax, help), taken));
  } else {
    parser.addOption(prepared(new Option(`${flags} ${syntax}`, help), taken));
  }
  if (isNeeded !== true) return;
  // The parser checks required options last, so that the fault of a misspelt option comes first.
  parser.hook("preAction", () => {
    if (parser.getOptionValue(name) !== undefined) return;
    parser.error(`required option '${flags} ${syntax}' not specified`);
  });
}

function prepared<Each extends Argument | Option>(
  each: Each,
  { words, fallback, shown, read }: Taken<unknown>,
): Each {
  if (words !== undefined) each.choices(words);
  if (fallback !== undefined) each.default(fallback, shown);
  if (read !== undefined) {
    each.argParser((given, before) => {
      try {
        return read(given, before);
      } catch (error) {
        throw error instanceof NotTaken ? new InvalidArgumentError(error.message) : error;
      }
    });
  }
  return each;
}
