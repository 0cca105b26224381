/**
 * All commands by name. A command loads only the modules it needs; a module that cannot be loaded is reported like any
 * other problem.
 */
import { type Command, type Print, UsageError } from "./command.ts";
import { ownManifest } from "./manifest.ts";
import { USAGE } from "./usage.ts";

type Load = () => Promise<Command>;

const COMMANDS: ReadonlyMap<string, Load> = new Map([
  ...commandsIn(() => import("./init.ts"), ["init"]),
  ...commandsIn(
    () => import("./command-arguments.ts"),
    ["dev", "listen", "machines", "explain", "inspect", "reconcile"],
  ),
  ...commandsIn(() => import("./accounts.ts"), ["accounts", "keys"]),
  ...commandsIn(() => import("./command-arguments.ts"), ["trigger", "backup", "migrate", "doctor"]),
  ...commandsIn(() => import("./schedules.ts"), ["schedules"]),
  ...commandsIn(
    () => import("./instances/commands.ts"),
    ["ps", "show", "history", "send", "retry", "drop", "stop", "remove"],
  ),
  ...commandsIn(() => import("./operator/decide.ts"), ["attention", "purses", "resolve", "approve"]),
  ...commandsIn(
    () => import("./operator/admit.ts"),
    ["pause", "resume", "paused", "limits", "suspend", "restore"],
  ),
  ...commandsIn(() => import("./operator/account.ts"), ["account"]),
  ...commandsIn(() => import("./operator/endpoints.ts"), ["witnesses", "endpoint", "audit"]),
  ...commandsIn(() => import("./operator/decide.ts"), ["settle", "recover"]),
]);

/** A module exports each of its commands under the command's name. */
function commandsIn<Name extends string>(
  load: () => Promise<Readonly<Record<NoInfer<Name>, Command>>>,
  names: readonly Name[],
): [string, Load][] {
  return names.map((name) => [name, async () => (await load())[name]]);
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
