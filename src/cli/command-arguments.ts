/** The commands that run alone: a command reads its arguments, then loads the code that carries the command out. */
import { type Command, UsageError, end } from "./command.ts";
import {
  noArgument,
  onlyArgument,
  PORTS,
  readArguments,
  wholeNumber,
  oneOf,
  WHOSE,
} from "./read-arguments.ts";
import { openUntilSignal } from "./stop-on-signal.ts";
import { isPostgres, isUrl } from "./url-or-path.ts";

/** The service takes no longer delay: the blockhash of a payment would be too old when it is sent. */
const DELAYS = { least: 0, most: 20_000 };

/** The arguments of `paystate dev`. */
export const dev: Command = async (args) => {
  const { values, positionals } = readArguments(args, {
    port: { type: "string", default: "3210" },
    "rpc-port": { type: "string", default: "8899" },
    data: { type: "string", default: ".paystate" },
    "slot-ms": { type: "string", default: "400" },
    "broadcast-delay-ms": { type: "string", default: "0" },
    json: { type: "boolean", default: false },
    debug: { type: "boolean", default: false },
  });
  noArgument("dev", positionals);
  const wanted = {
    port: wholeNumber("--port", values.port, PORTS),
    rpcPort: wholeNumber("--rpc-port", values["rpc-port"], PORTS),
    dataFolder: values.data,
    slotMs: wholeNumber("--slot-ms", values["slot-ms"], { least: 10, most: 60_000 }),
    broadcastDelayMs: wholeNumber("--broadcast-delay-ms", values["broadcast-delay-ms"], DELAYS),
    json: values.json,
    debug: values.debug,
  };
  const { dev: live } = await import("./dev.ts");
  await live(wanted);
};

/** The arguments of `paystate listen`. */
export const listen: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    "forward-to": { type: "string" },
    port: { type: "string", default: "3211" },
    events: { type: "string" },
    data: { type: "string", default: ".paystate" },
    debug: { type: "boolean", default: false },
  });
  noArgument("listen", positionals);
  if (values["forward-to"] === undefined) throw new UsageError("listen expects --forward-to URL");
  const { eventOf, targetOf } = await import("./trigger.ts");
  const { NOTICE_EVENTS } = await import("../payments/frame/notices/notice-body.ts");
  const wanted = {
    forwardTo: targetOf("--forward-to", values["forward-to"]),
    port: wholeNumber("--port", values.port, PORTS),
    events: [...new Set(values.events?.split(",").map(eventOf) ?? NOTICE_EVENTS)],
    dataFolder: values.data,
  };
  const { listen: forward } = await import("./listen.ts");
  await openUntilSignal(forward(wanted, print));
};

/** The arguments of `paystate machines`. */
export const machines: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    format: { type: "string", default: "mermaid" },
    debug: { type: "boolean", default: false },
  });
  const { drawMachines, MACHINE_FORMATS } = await import("./draw-machine.ts");
  oneOf("--format", values.format, MACHINE_FORMATS);
  print(await drawMachines(positionals, values.format));
};

/** The arguments of `paystate explain`. */
export const explain: Command = async (args, print) => {
  const { positionals } = readArguments(args, { debug: { type: "boolean", default: false } });
  const what = ["an error, such as INVALID_QUOTE.expired", "one error"] as const;
  const error = onlyArgument("explain", what, positionals);
  const { explain: explained } = await import("./explain.ts");
  print(explained(error));
};

/** The arguments of `paystate inspect`. */
export const inspect: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    charts: { type: "string" },
    port: { type: "string", default: "3212" },
    json: { type: "boolean", default: false },
    debug: { type: "boolean", default: false },
  });
  const file = onlyArgument("inspect", ["a database file, or a bundle", "one file"], positionals);
  const port = wholeNumber("--port", values.port, PORTS);
  const { inspect: open } = await import("./inspect.ts");
  const { charts, json, debug } = values;
  await openUntilSignal(open({ file, charts, port, json, debug }, print));
};

/** The exit code where something is not explained; `main.ts` has that for not having looked. */
const NOT_EXPLAINED = 1;

/** The arguments of `paystate reconcile`, and how it ends. */
export const reconcile: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...WHOSE,
    json: { type: "boolean", default: false },
  });
  noArgument("reconcile", positionals);
  const { openService } = await import("./open-service.ts");
  const { reconcile: look } = await import("./reconcile.ts");
  const { service, close } = await openService(values);
  const isExplained = await look(service, print, values);
  await close();
  await end(isExplained ? 0 : NOT_EXPLAINED);
};

/** The arguments of `paystate trigger`. */
export const trigger: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...WHOSE,
    to: { type: "string" },
    secret: { type: "string" },
    webhook: { type: "string" },
    account: { type: "string" },
  });
  const name = onlyArgument("trigger", ["an event", "one event"], positionals);
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
};

/** The arguments of `paystate backup`. */
export const backup: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    data: { type: "string" },
    database: { type: "string" },
    json: { type: "boolean", default: false },
    debug: { type: "boolean", default: false },
  });
  const target = onlyArgument("backup", ["the name of a new file", "one file"], positionals);
  const { backup: copy } = await import("./backup.ts");
  await copy(target, values, print);
};

/** The arguments of `paystate migrate`. */
export const migrate: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    from: { type: "string" },
    to: { type: "string" },
    schema: { type: "string" },
    json: { type: "boolean", default: false },
  });
  const { from, to, schema, json } = values;
  noArgument("migrate", positionals);
  if (from === undefined || to === undefined) {
    throw new UsageError("migrate expects --from FILE, an SQLite database, and --to URL, of PostgreSQL");
  }
  if (isUrl(from)) {
    throw new UsageError("--from expects the file of an SQLite database, not a URL");
  }
  if (!isPostgres(to)) {
    throw new UsageError("--to expects a URL of PostgreSQL such as postgres://user@host:5432/database");
  }
  const { migrate: move } = await import("./migrate.ts");
  await move({ from, to, ...(schema === undefined ? {} : { schema }) }, print, json);
  await end(0);
};

/** The arguments of `paystate doctor`, and how it ends. */
export const doctor: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...WHOSE,
    database: { type: "string" },
    json: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    live: { type: "boolean", default: false },
  });
  noArgument("doctor", positionals);
  if (values.live && values.service === undefined && values.data === undefined) {
    throw new UsageError("--live expects --service FILE, the service that is to go live");
  }
  const { doctor: examine } = await import("./doctor/doctor.ts");
  await end(await examine(values, print));
};
