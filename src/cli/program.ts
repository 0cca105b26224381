/** The command as its parser knows it: built of the rows of all commands, each refusal in a sentence. */
import { Command as Parser, CommanderError } from "commander";
import { UsageError, type Print } from "./command.ts";
import { COMMANDS, GROUPS } from "./commands.ts";
import { flag } from "../core/takes.ts";
import { type CommandRow, addTo } from "./define.ts";
import { loadWithWeb3 } from "../core/load-web3.ts";
import { ownManifest } from "./manifest.ts";

/** Help is the same on every terminal. */
const HELP_WIDTH = 110;

const DEBUG = flag("shows where an error comes from");

/** Runs what `args` ask for. Throws `UsageError`, before anything is opened, for what they may not be. */
export async function runCommand(args: readonly string[], print: Print): Promise<void> {
  try {
    await programOf(print).parseAsync(args.flatMap(parted), { from: "user" });
  } catch (error) {
    // The end of help, which was printed.
    if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
  }
}

/** All that help says: of each command by itself, and of all together. */
export function wholeHelp(): string {
  const helpOf = (parser: Parser): string[] => [
    parser.helpInformation(),
    ...parser.commands.flatMap((each) => helpOf(each)),
  ];
  return helpOf(programOf(() => {})).join("\n");
}

/** `--name=value` as two: an argument that is refused is repeated, and the value may hold a password. */
function parted(argument: string): readonly string[] {
  const at = /^--[a-z-]+=/.exec(argument)?.[0].length ?? 0;
  return at === 0 ? [argument] : [argument.slice(0, at - 1), argument.slice(at)];
}

function programOf(print: Print): Parser {
  const program = prepared(new Parser("paystate"))
    .description("Durable state machines, and a payment service on them.")
    .version(ownManifest().version, "--version", "prints the version of the package")
    .configureOutput({
      writeOut: (text) => print(text.trimEnd()),
      writeErr: () => {},
      outputError: () => {},
      getOutHelpWidth: () => HELP_WIDTH,
      getOutHasColors: () => false,
    });
  const groups = new Map<string, Parser>();
  for (const row of COMMANDS) {
    const [word = "", verb] = row.name.split(" ");
    if (verb === undefined) {
      add(row, prepared(program.command(word)), print);
      continue;
    }
    const group = groups.get(word) ?? prepared(program.command(word)).description(GROUPS[word] ?? "");
    groups.set(word, group);
    add(row, prepared(group.command(verb)), print);
  }
  return program;
}

/** With refusals as errors of ours. */
function prepared(parser: Parser): Parser {
  return parser.helpOption("-h, --help", "prints this").exitOverride((error) => {
    if (error.exitCode === 0) throw error;
    throw refusedBy(nameOf(parser), new UsageError(sentenceOf(error, parser), { cause: error }));
  });
}

function nameOf(parser: Parser): string {
  return parser.parent === null ? parser.name() : `${nameOf(parser.parent)} ${parser.name()}`;
}

function sentenceOf({ code, message }: CommanderError, { commands }: Parser): string {
  if (code !== "commander.help") return message.replace("error: ", "").replace("\n", " ");
  return `expected a command: ${commands.map((each) => each.name()).join(", ")}`;
}

function add({ name, help, takes, run }: CommandRow, parser: Parser, print: Print): void {
  parser.description(help).summary(help.split(/\.\s/)[0]?.replace(/\.$/, "") ?? "");
  const all = Object.entries({ ...takes, debug: takes["debug"] ?? DEBUG });
  for (const [key, each] of all) addTo(parser, key, each);
  const places = all.filter(([, { is }]) => is === "argument").map(([key]) => key);
  parser.action(async () => {
    const { processedArgs } = parser;
    const placed = Object.fromEntries(places.map((key, at) => [key, processedArgs[at] as unknown]));
    // Commands of payments load what needs web3.js, which an engine's user has not installed.
    const ran = loadWithWeb3(() => run({ ...parser.opts(), ...placed }, print));
    await ran.catch((error: unknown) => {
      throw error instanceof UsageError ? refusedBy(`paystate ${name}`, error) : error;
    });
  });
}

function refusedBy(command: string, error: UsageError): UsageError {
  error.command = command;
  return error;
}
