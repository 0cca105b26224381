/** Commands that begin: a project, a service for development, pictures and pages of what is there. */
import { end, UsageError } from "../command.ts";
import {
  argument,
  chosenArgument,
  flag,
  manyArguments,
  oneOfOr,
  optionalArgument,
  PORTS,
  text,
  textOr,
  wholeNumber,
} from "../../core/takes.ts";
import { command } from "../define.ts";
import { JSON_LINE, SERVICE } from "./shared.ts";

export const startCommands = [
  command({
    name: "init",
    help: "Writes a project that runs. It is a durable chart (engine) or an Express app with the payment API on a chain for development (payments), with a test on a virtual clock.",
    takes: {
      kind: chosenArgument(["engine", "payments"], "what it is about"),
      folder: optionalArgument("FOLDER", "new or empty, default paystate-engine or paystate-payments"),
    },
    run: async (values, print) => (await import("../init.ts")).init(values, print),
  }),
  command({
    name: "dev",
    help: "Starts a local chain, a database, the payment service and its HTTP handler",
    takes: {
      port: wholeNumber("N", "where the API listens; 0 takes any free port", { ...PORTS, fallback: 3210 }),
      rpcPort: wholeNumber("N", "where the chain's JSON-RPC listens; 0 takes any free port", {
        ...PORTS,
        fallback: 8899,
      }),
      data: textOr(".paystate", "DIR", "where everything is kept; started again on it, all goes on"),
      slotMs: wholeNumber("N", "how long a slot of the chain lasts", {
        least: 10,
        most: 60_000,
        fallback: 400,
      }),
      broadcastDelayMs: wholeNumber("N", "how long a payment of wallet mode can still be cancelled", {
        least: 0,
        // With a longer one the blockhash of a payment would be too old when it is sent.
        most: 20_000,
        fallback: 0,
      }),
      json: flag("one line on stdout once ready, for programs; logs go to stderr"),
      debug: flag("logs everything, and shows where an error comes from"),
    },
    run: async (values) => (await import("../dev.ts")).dev(values),
  }),
  command({
    name: "machines",
    help: "Prints state charts: all of the package, the named ones, or those that a module of yours exports",
    takes: {
      names: manyArguments("NAME|MODULE", "charts of the package, or modules by their paths"),
      format: oneOfOr(
        "FORMAT",
        ["mermaid", "svg", "json"],
        "as svg one chart, which takes the package elkjs",
      ),
    },
    run: async ({ names, format }, print) => {
      const { drawMachines } = await import("../draw-machine.ts");
      print(await drawMachines(names, format));
    },
  }),
  command({
    name: "inspect",
    help: "Shows a database file, a copy of one, or a bundle that an inspector has exported, in the pages of the inspector. It is only read.",
    takes: {
      file: argument("FILE", "a database file, or a bundle"),
      charts: text("MODULE", "exports your own workflows; without it their stored rows are shown, undrawn"),
      port: wholeNumber("N", "where the pages are; 0 takes any free port", { ...PORTS, fallback: 3212 }),
      json: flag("one line with the address"),
      debug: flag("logs everything, and shows where an error comes from"),
    },
    run: async (values, print) => {
      const { inspect } = await import("../inspect.ts");
      const { openUntilSignal } = await import("../stop-on-signal.ts");
      await openUntilSignal(inspect(values, print));
    },
  }),
  command({
    name: "doctor",
    help: "Looks for what is wrong with this machine, a database file and a service, and says what to do about it. It changes nothing, prints a line for each check (ok, warning or wrong), and ends with 1 when something is wrong. A URL of PostgreSQL goes with --service, through which it is asked.",
    takes: {
      ...SERVICE,
      data: text("DIR", "the folder of a paystate dev: its database and its service"),
      database: text("FILE", "a database file; of PostgreSQL its URL"),
      full: flag("reads each page of the file, not some rows of each table: seconds for each gigabyte"),
      live: flag("looks also for what is not ready for real money; ends with 2 when something is to look at"),
      ...JSON_LINE,
    },
    run: async (values, print) => {
      if (values.live && values.service === undefined && values.data === undefined) {
        throw new UsageError("--live expects --service FILE, the service that is to go live");
      }
      const { doctor } = await import("../doctor/doctor.ts");
      await end(await doctor(values, print));
    },
  }),
];
