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

paystate machines [NAME …] [--format mermaid]
    Prints the state charts, all or the named ones.

paystate --help`;

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
    case undefined:
      throw new UsageError("expected a command: dev or machines");
    default:
      throw new UsageError(`there is no command "${command}": expected dev or machines`);
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
  print(drawMachines(positionals));
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function explain(error: unknown, debug: boolean): void {
  process.stderr.write(`paystate: ${debug ? inspect(error) : (error as Error).message}\n`);
  if (error instanceof UsageError) process.stderr.write("Run `paystate --help` for what it takes.\n");
  // Whatever a command had opened before it failed must not keep the process alive.
  process.exit(1);
}

const args = process.argv.slice(2);
run(args).catch((error: unknown) => explain(error, args.includes("--debug")));
