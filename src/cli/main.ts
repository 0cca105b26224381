#!/usr/bin/env node
/** The `paystate` command: reads its arguments, runs one of its commands, and says in a sentence what went wrong. */
import { inspect } from "node:util";
import { oneOf, readArguments, wholeNumber } from "./read-arguments.ts";
import { stopOnSignal } from "./stop-on-signal.ts";
import { USAGE } from "./usage.ts";
import { UsageError } from "./usage-error.ts";

/** How `reconcile` ends when it does not end well. */
const NOT_EXPLAINED = 1;
const NOTHING_CONCLUDED = 2;

/** Loaded together, when one of them is asked for. */
const OPERATOR_COMMANDS: readonly string[] = [
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
  "audit",
  "recover",
];
/** Those on the instances of a database file, loaded in the same way. */
const INSTANCE_COMMANDS: readonly string[] = ["ps", "show", "history", "retry", "drop", "stop", "remove"];
const COMMANDS = [
  "dev",
  "listen",
  "machines",
  "inspect",
  "reconcile",
  "release",
  "accounts",
  "keys",
  "trigger",
  "backup",
  ...INSTANCE_COMMANDS,
  ...OPERATOR_COMMANDS,
];
const ALL = `${COMMANDS.slice(0, -1).join(", ")} or ${COMMANDS.at(-1)}`;

async function run(args: readonly string[]): Promise<void> {
  const [command, ...rest] = args;
  if (command === "help" || args.includes("--help") || args.includes("-h")) {
    print(USAGE);
    return;
  }
  switch (command) {
    case "dev":
      return runDev(rest);
    case "listen":
      return runListen(rest);
    case "machines":
      return runMachines(rest);
    case "inspect":
      return runInspect(rest);
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
    case "backup":
      return runBackup(rest);
    case undefined:
      throw new UsageError(`expected a command: ${ALL}`);
    default:
      if (OPERATOR_COMMANDS.includes(command)) return runOperatorCommand(command, rest);
      if (INSTANCE_COMMANDS.includes(command)) return runInstanceCommand(command, rest);
      throw new UsageError(`there is no command "${command}": expected ${ALL}`);
  }
}

const PORTS = { least: 0, most: 65_535 };
/** The service takes no longer delay: the blockhash of a payment would be too old when it is sent. */
const DELAYS = { least: 0, most: 20_000 };

// Each command loads only what it needs; a module that cannot be loaded is reported like any other problem.

async function runDev(args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args, {
    port: { type: "string", default: "3210" },
    "rpc-port": { type: "string", default: "8899" },
    data: { type: "string", default: ".paystate" },
    "slot-ms": { type: "string", default: "400" },
    "broadcast-delay-ms": { type: "string", default: "0" },
    json: { type: "boolean", default: false },
    debug: { type: "boolean", default: false },
  });
  if (positionals[0] !== undefined) throw new UsageError(`dev takes no argument "${positionals[0]}"`);
  const wanted = {
    port: wholeNumber("--port", values.port, PORTS),
    rpcPort: wholeNumber("--rpc-port", values["rpc-port"], PORTS),
    dataFolder: values.data,
    slotMs: wholeNumber("--slot-ms", values["slot-ms"], { least: 10, most: 60_000 }),
    broadcastDelayMs: wholeNumber("--broadcast-delay-ms", values["broadcast-delay-ms"], DELAYS),
    json: values.json,
    debug: values.debug,
  };
  const { dev } = await import("./dev.ts");
  await dev(wanted);
}

async function runListen(args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args, {
    "forward-to": { type: "string" },
    port: { type: "string", default: "3211" },
    events: { type: "string" },
    data: { type: "string", default: ".paystate" },
    debug: { type: "boolean", default: false },
  });
  if (positionals[0] !== undefined) throw new UsageError(`listen takes no argument "${positionals[0]}"`);
  if (values["forward-to"] === undefined) throw new UsageError("listen expects --forward-to URL");
  const { eventOf, targetOf } = await import("./trigger.ts");
  const { NOTICE_EVENTS } = await import("../payments/webhooks/sending/notice-body.ts");
  const wanted = {
    forwardTo: targetOf("--forward-to", values["forward-to"]),
    port: wholeNumber("--port", values.port, PORTS),
    events: [...new Set(values.events?.split(",").map(eventOf) ?? NOTICE_EVENTS)],
    dataFolder: values.data,
  };
  const { listen } = await import("./listen.ts");
  stopOnSignal(await listen(wanted, print));
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

async function runInspect(args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args, {
    charts: { type: "string" },
    port: { type: "string", default: "3212" },
    json: { type: "boolean", default: false },
    debug: { type: "boolean", default: false },
  });
  const [file, more] = positionals;
  if (file === undefined) throw new UsageError("inspect expects a database file, or a bundle");
  if (more !== undefined) throw new UsageError(`inspect takes one file, and no "${more}"`);
  const port = wholeNumber("--port", values.port, PORTS);
  const { inspect: open } = await import("./inspect.ts");
  const { charts, json, debug } = values;
  stopOnSignal(await open({ file, charts, port, json, debug }, print));
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
    ? release(service, transactionId, print)
    : returnTokens(service, { transactionId, mint, to }, print));
  await close();
  await end(0);
}

async function runBackup(args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args, {
    data: { type: "string" },
    database: { type: "string" },
    json: { type: "boolean", default: false },
    debug: { type: "boolean", default: false },
  });
  const [target, more] = positionals;
  if (target === undefined) throw new UsageError("backup expects the name of a new file");
  if (more !== undefined) throw new UsageError(`backup takes one file, and no "${more}"`);
  const { backup } = await import("./backup.ts");
  await backup(target, values, print);
}

async function runTrigger(args: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(args, {
    ...WHOSE,
    to: { type: "string" },
    secret: { type: "string" },
    webhook: { type: "string" },
    account: { type: "string" },
  });
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
    const isTaken = await triggerAt(event, { url: targetOf("--to", to), secret: secret ?? null }, print);
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

async function runOperatorCommand(command: string, args: readonly string[]): Promise<void> {
  const { OPERATOR_COMMANDS: commands } = await import("./operator/commands.ts");
  await commands[command]?.(args, print);
  await end(0);
}

async function runInstanceCommand(command: string, args: readonly string[]): Promise<void> {
  const { INSTANCE_COMMANDS: commands } = await import("./instances/commands.ts");
  await commands[command]?.(args, print);
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
  // What a command had opened before it failed must not keep the process alive.
  process.exit(args[0] === "reconcile" ? NOTHING_CONCLUDED : 1);
}

const args = process.argv.slice(2);
run(args).catch((error: unknown) => explain(error, args.includes("--debug")));
