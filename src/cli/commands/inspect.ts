/** The arguments of `paystate inspect`. */
import type { Command } from "../print.ts";
import { PORTS, readArguments, wholeNumber } from "../read-arguments.ts";
import { stopOnSignal } from "../stop-on-signal.ts";
import { UsageError } from "../usage-error.ts";

export const inspect: Command = async (args, print) => {
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
  const { inspect: open } = await import("../inspect.ts");
  const { charts, json, debug } = values;
  stopOnSignal(await open({ file, charts, port, json, debug }, print));
};
