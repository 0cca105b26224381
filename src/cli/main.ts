#!/usr/bin/env node
/** The `paystate` command: reads its arguments, runs one of its commands, and says in a sentence what went wrong. */
import { inspect } from "node:util";
import { oneOf, readArguments, wholeNumber } from "./read-arguments.ts";
import { UsageError } from "./usage-error.ts";

const USAGE = `paystate dev [--port N] [--rpc-port N] [--data DIR] [--slot-ms N] [--json] [--debug]
    Starts a local chain, a database, the payment service and its HTTP handler.
      --port N       where the API listens, default 3210; 0 takes any free port
      --rpc-port N   where the chain's JSON-RPC listens, default 8899; 0 takes any free port
      --data DIR     where everything is kept, default .paystate; started again on it, all goes on
      --slot-ms N    how long a slot of the chain lasts, default 400
      --json         exactly one line on stdout once ready, for programs; logs go to stderr
      --debug        logs everything, and shows where an error comes from

paystate machines [NAME …] [--format mermaid|svg|json]
    Prints the state charts, all or the named ones; as svg one, which takes the package elkjs.

paystate reconcile [--data DIR | --service FILE] [--json]
    Holds every deposit address of private mode against the chain and says what became of every base unit. Freezes an
    address that has paid what the database does not know of. Ends with 0 when everything is explained, with 1 when
    something is not, and with 2 when the chain cannot be read, and nothing can be said.
      --data DIR      the folder of a paystate dev, default .paystate; whether it runs or not
      --service FILE  your own service instead: a module that exports it as \`service\`
      --json          one line of JSON

paystate release TRANSACTION_ID [--mint MINT [--to OWNER]] [--data DIR | --service FILE]
    Lets a deposit address that is held for you, or was closed, be settled: what is there goes back to the sender.
      --mint MINT    instead: sends on what is there of a token that is none of the service's own, Token-2022 included
      --to OWNER     to this wallet, default the sender's

The operator's room. Each takes --data DIR or --service FILE as above, and --json for one line of JSON. What changes
anything also takes --actor NAME and --reason TEXT, which are kept in the audit log.

paystate attention
    Lists what needs a person, oldest first, and what can be done about it.

paystate resolve ID --action retry|drop|release|refundTo|writeOff|settle [--address ADDRESS] [--signature SIGNATURE]
paystate approve ID
    Decides about a matter; confirms what another person has asked for, where it takes two.

paystate pause|resume [--mode wallet|private] [--asset ASSET] [--type send|swap|payroll] [--account ID]
paystate suspend|restore ACCOUNT_ID
paystate paused
    Takes nothing new, or does again; lists what is paused and who is suspended. What is under way goes on.

paystate limits [--asset ASSET [--per-transaction AMOUNT] [--per-day AMOUNT] [--direction in|out] [--account ID]]
    Sets limits on amounts, for one account or for every account; with an asset alone ends them. Then lists them all.

paystate audit [--after ID] [--limit N]
    Prints the audit log, oldest first.

paystate recover FILE [--to ADDRESS]
    Derives the deposit addresses of the orders in FILE (ids, or a recovery journal) again, and lists what lies there.
      --to ADDRESS   sends it there, but for addresses that have paid already

Accounts and their keys, straight on a database file; a service may be at work on it. Each takes --json.
      --data DIR       the folder of a paystate dev, default .paystate
      --database FILE  your own database instead

paystate accounts create NAME --tier free|pro|enterprise
paystate accounts list

paystate keys create ACCOUNT_ID [--scopes SCOPE,…] [--expires-in DAYS]
paystate keys list ACCOUNT_ID
paystate keys revoke KEY_ID
    A key is shown once, when it is made. One that is revoked is refused from its next request on.

paystate trigger EVENT --to URL [--secret SECRET]
paystate trigger EVENT --webhook ID --account ID [--data DIR | --service FILE]
    Sends one sample notice of this event, signed like a real one. Ends with 0 when the receiver answers 200.

Instances of any database file, also while a service runs on it. Each takes --database FILE, or --data DIR for
the folder of a paystate dev (default .paystate), and --json for one line of JSON.

paystate ps [--workflow NAME] [--state STATE] [--status STATUS] [--failing] [--after PLACE] [--limit N]
    Lists instances: workflow, state, and what fails of them.
      --status STATUS   active (default), done, stopped, error or all
      --failing         only those with a task that fails or was set aside

paystate show ID
    One instance: state, context, output or error, and what it waits for.

paystate history ID [--after STEP] [--limit N]
    The steps of an instance, oldest first.

paystate retry ID
    Makes what fails or was set aside of an instance due now.

paystate --help`;

/** How `reconcile` ends when it does not end well. */
const NOT_EXPLAINED = 1;
const NOTHING_CONCLUDED = 2;

/** Those of the operator's room, loaded when one of them is asked for. */
const ROOM: readonly string[] = [
  ...["attention", "resolve", "approve", "pause", "resume", "paused"],
  ...["limits", "suspend", "restore", "audit", "recover"],
];
/** Those on the instances of a database file, loaded in the same way. */
const ON_INSTANCES: readonly string[] = ["ps", "show", "history", "retry"];
const COMMANDS = `dev, machines, reconcile, release, accounts, keys, trigger, ${ON_INSTANCES.join(", ")}, ${ROOM.slice(0, -1).join(", ")} or ${ROOM.at(-1)}`;

async function run(args: readonly string[]): Promise<void> {
  const [command, ...rest] = args;
  if (command === "help" || args.includes("--help") || args.includes("-h")) {
    print(USAGE);
    return;
  }
  switch (command) {
    case "dev":
      return runDev(rest);
    case "machines":
      return runMachines(rest);
    case "reconcile":
      return runReconcile(rest);
    case "release":
      return runRelease(rest);
    case "accounts":
      return (await import("./accounts.ts")).accounts(rest, print);
    case "keys":
      return (await import("./accounts.ts")).keys(rest, print);
    case "trigger":
      return runTrigger(rest);
    case undefined:
      throw new UsageError(`expected a command: ${COMMANDS}`);
    default:
      if (ROOM.includes(command)) return runInRoom(command, rest);
      if (ON_INSTANCES.includes(command)) return runOnInstances(command, rest);
      throw new UsageError(`there is no command "${command}": expected ${COMMANDS}`);
  }
}

// Each command loads only what it needs, and what cannot be loaded is said like any other problem.

async function runDev(args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args, {
    port: { type: "string", default: "3210" },
    "rpc-port": { type: "string", default: "8899" },
    data: { type: "string", default: ".paystate" },
    "slot-ms": { type: "string", default: "400" },
    json: { type: "boolean", default: false },
    debug: { type: "boolean", default: false },
  });
  if (positionals[0] !== undefined) throw new UsageError(`dev takes no argument "${positionals[0]}"`);
  const wanted = {
    port: wholeNumber("--port", values.port, 0, 65_535),
    rpcPort: wholeNumber("--rpc-port", values["rpc-port"], 0, 65_535),
    dataFolder: values.data,
    slotMs: wholeNumber("--slot-ms", values["slot-ms"], 10, 60_000),
    json: values.json,
    debug: values.debug,
  };
  const { dev } = await import("./dev.ts");
  await dev(wanted);
}

async function runMachines(args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args, {
    format: { type: "string", default: "mermaid" },
    debug: { type: "boolean", default: false },
  });
  const { drawMachines, MACHINE_FORMATS } = await import("./draw-machine.ts");
  oneOf("--format", values.format, MACHINE_FORMATS);
  print(await drawMachines(positionals, values.format));
}

const WHOSE = {
  data: { type: "string" },
  service: { type: "string" },
  debug: { type: "boolean", default: false },
} as const;

async function runReconcile(args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args, {
    ...WHOSE,
    json: { type: "boolean", default: false },
  });
  if (positionals[0] !== undefined) throw new UsageError(`reconcile takes no argument "${positionals[0]}"`);
  const { openService } = await import("./open-service.ts");
  const { reconcile } = await import("./reconcile.ts");
  const { service, close } = await openService(values);
  const isExplained = await reconcile(service, print, values);
  await close();
  await end(isExplained ? 0 : NOT_EXPLAINED);
}

async function runRelease(args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args, {
    ...WHOSE,
    mint: { type: "string" },
    to: { type: "string" },
  });
  const [transactionId, more] = positionals;
  if (transactionId === undefined) throw new UsageError("release expects the id of a transaction");
  if (more !== undefined) throw new UsageError(`release takes one transaction, and no "${more}"`);
  const { mint, to } = values;
  if (to !== undefined && mint === undefined) throw new UsageError("--to expects the --mint that goes there");
  const { openService } = await import("./open-service.ts");
  const { release, returnTokens } = await import("./release.ts");
  const { service, close } = await openService(values);
  await (mint === undefined
    ? release(service, print, transactionId)
    : returnTokens(service, print, transactionId, { mint, to }));
  await close();
  await end(0);
}

async function runTrigger(args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args, {
    ...WHOSE,
    ...{ to: { type: "string" }, secret: { type: "string" } },
    ...{ webhook: { type: "string" }, account: { type: "string" } },
  } as const);
  const [name, more] = positionals;
  if (name === undefined) throw new UsageError("trigger expects an event");
  if (more !== undefined) throw new UsageError(`trigger takes one event, and no "${more}"`);
  const { eventOf, targetOf, triggerAt, triggerWebhook } = await import("./trigger.ts");
  const event = eventOf(name);
  const { to, secret, webhook, account } = values;
  if ((to === undefined) === (webhook === undefined)) {
    throw new UsageError("expected either --to or --webhook");
  }
  if (to !== undefined) {
    const isTaken = await triggerAt(event, { url: targetOf(to), secret: secret ?? null }, print);
    return end(isTaken ? 0 : 1);
  }
  if (secret !== undefined) throw new UsageError("--secret expects --to: a registered webhook has its own");
  if (account === undefined) throw new UsageError("--webhook expects the --account that it belongs to");
  const { openService } = await import("./open-service.ts");
  const { service, close } = await openService(values);
  const ids = { event, webhookId: webhook ?? "", accountId: account };
  const isTaken = await triggerWebhook(service, ids, print);
  await close();
  return end(isTaken ? 0 : 1);
}

async function runInRoom(command: string, args: readonly string[]): Promise<void> {
  const { OPERATOR_COMMANDS } = await import("./operator/commands.ts");
  await OPERATOR_COMMANDS[command]?.(args, print);
  await end(0);
}

async function runOnInstances(command: string, args: readonly string[]): Promise<void> {
  const { INSTANCE_COMMANDS } = await import("./instances/commands.ts");
  await INSTANCE_COMMANDS[command]?.(args, print);
}

/** A service of the host's own may keep the process alive; what was printed has to be out before it ends. */
async function end(code: number): Promise<void> {
  await new Promise((resolve) => {
    process.stdout.write("", resolve);
  });
  process.exit(code);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function explain(error: unknown, debug: boolean): void {
  process.stderr.write(`paystate: ${debug ? inspect(error) : (error as Error).message}\n`);
  if (error instanceof UsageError) process.stderr.write("Run `paystate --help` for what it takes.\n");
  // Whatever a command had opened before it failed must not keep the process alive.
  process.exit(args[0] === "reconcile" ? NOTHING_CONCLUDED : 1);
}

const args = process.argv.slice(2);
run(args).catch((error: unknown) => explain(error, args.includes("--debug")));
