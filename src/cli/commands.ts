/**
 * All commands by name. A command loads only the modules it needs; a module that cannot be loaded is reported like any
 * other problem.
 */
import {
  backup,
  dev,
  explain,
  inspect,
  listen,
  machines,
  migrate,
  reconcile,
  trigger,
} from "./command-arguments.ts";
import { end, type Command, type Print, UsageError } from "./command.ts";
import { ownManifest } from "./manifest.ts";
import { USAGE } from "./usage.ts";

type Load = () => Promise<Command>;

/** On the instances of a database file. */
const INSTANCE_COMMANDS = ["ps", "show", "history", "send", "retry", "drop", "stop", "remove"] as const;
/** On a service. */
const OPERATOR_COMMANDS = [
  "attention",
  "resolve",
  "approve",
  "pause",
  "resume",
  "paused",
  "limits",
  "suspend",
  "restore",
  "witnesses",
  "endpoint",
  "audit",
  "release",
  "settle",
  "recover",
] as const;

const COMMANDS: ReadonlyMap<string, Load> = new Map<string, Load>([
  ["init", async () => (await import("./init.ts")).init],
  ["dev", async () => dev],
  ["listen", async () => listen],
  ["machines", async () => machines],
  ["explain", async () => explain],
  ["inspect", async () => inspect],
  ["reconcile", async () => reconcile],
  ["accounts", async () => (await import("./accounts.ts")).accounts],
  ["keys", async () => (await import("./accounts.ts")).keys],
  ["trigger", async () => trigger],
  ["backup", async () => backup],
  ["migrate", async () => migrate],
  ["doctor", async () => (await import("./commands/doctor.ts")).doctor],
  ["schedules", async () => (await import("./schedules.ts")).schedules],
  ...INSTANCE_COMMANDS.map((name): [string, Load] => [name, () => instanceCommand(name)]),
  ...OPERATOR_COMMANDS.map((name): [string, Load] => [name, () => operatorCommand(name)]),
]);

async function instanceCommand(name: (typeof INSTANCE_COMMANDS)[number]): Promise<Command> {
  const { INSTANCE_COMMANDS: commands } = await import("./instances/commands.ts");
  return commands[name];
}

async function operatorCommand(name: (typeof OPERATOR_COMMANDS)[number]): Promise<Command> {
  const { OPERATOR_COMMANDS: commands } = await import("./operator/commands.ts");
  return async (args, print) => {
    await commands[name](args, print);
    await end(0);
  };
}

/** Runs what `args` ask for. Throws `UsageError`, before anything is opened, for what they may not be. */
export async function runCommand(args: readonly string[], print: Print): Promise<void> {
  const [name, ...rest] = args;
  if (name === "help" || args.includes("--help") || args.includes("-h")) {
    print(USAGE);
    return;
  }
  if (name === "--version") {
    print(ownManifest().version);
    return;
  }
  const names = [...COMMANDS.keys()];
  const all = `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  if (name === undefined) throw new UsageError(`expected a command: ${all}`);
  const load = COMMANDS.get(name);
  if (load === undefined) throw new UsageError(`there is no command "${name}": expected ${all}`);
  const command = await load();
  await command(rest, print);
}
