#!/usr/bin/env node
/** The `paystate` command: reads its arguments, runs one of its commands, and says in a sentence what went wrong. */
import { parseArgs } from "node:util";
import { UsageError } from "./usage-error.ts";

const USAGE = `paystate dev [--port N] [--rpc-port N] [--data DIR] [--slot-ms N] [--json] [--debug]
    Starts a local chain, a database, the payment service and its HTTP handler.
      --port N       where the API listens, default 3210; 0 takes any free port
      --rpc-port N   where the chain's JSON-RPC listens, default 8899; 0 takes any free port
      --data DIR     where everything is kept, default .paystate; started again on it, all goes on
      --slot-ms N    how long a slot of the chain lasts, default 400
      --json         exactly one line on stdout once ready, for programs; logs go to stderr

paystate machines [NAME …] --format mermaid
    Prints the state charts, all or the named ones.

paystate --help`;

async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      port: { type: "string", default: "3210" },
      "rpc-port": { type: "string", default: "8899" },
      data: { type: "string", default: ".paystate" },
      "slot-ms": { type: "string", default: "400" },
      format: { type: "string", default: "mermaid" },
      json: { type: "boolean", default: false },
      debug: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const [command, ...names] = positionals;
  if (values.help || command === "help") {
    print(USAGE);
    return;
  }
  switch (command) {
    case "dev": {
      if (names.length > 0) throw new UsageError(`dev takes no argument "${names[0]}"`);
      // Each command loads only what it needs, and what cannot be loaded is said like any other problem.
      const { dev } = await import("./dev.ts");
      return dev({
        port: wholeNumber("--port", values.port, 0, 65_535),
        rpcPort: wholeNumber("--rpc-port", values["rpc-port"], 0, 65_535),
        dataFolder: values.data,
        slotMs: wholeNumber("--slot-ms", values["slot-ms"], 10, 60_000),
        json: values.json,
        debug: values.debug,
      });
    }
    case "machines": {
      const { drawMachines, MACHINE_FORMATS } = await import("./draw-machine.ts");
      if (!MACHINE_FORMATS.includes(values.format)) {
        throw new UsageError(`--format ${values.format}: expected ${MACHINE_FORMATS.join(" or ")}`);
      }
      print(drawMachines(names));
      return;
    }
    case undefined:
      throw new UsageError("expected a command: dev or machines");
    default:
      throw new UsageError(`there is no command "${command}": expected dev or machines`);
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function wholeNumber(option: string, text: string, least: number, most: number): number {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(`${option} ${text}: expected a whole number from ${least} to ${most}`);
}

function explain(error: unknown, debug: boolean): void {
  const { message, stack, code } = error as Error & { code?: string };
  const wrongUsage = error instanceof UsageError || code?.startsWith("ERR_PARSE_ARGS") === true;
  process.stderr.write(`paystate: ${debug ? (stack ?? message) : message}\n`);
  if (wrongUsage) process.stderr.write("Run `paystate --help` for what it takes.\n");
  // Whatever a command had opened before it failed must not keep the process alive.
  process.exit(1);
}

const args = process.argv.slice(2);
run(args).catch((error: unknown) => explain(error, args.includes("--debug")));
