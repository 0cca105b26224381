/** The arguments of `paystate reconcile`, and how it ends. */
import { end } from "../end.ts";
import type { Command } from "../print.ts";
import { readArguments, WHOSE } from "../read-arguments.ts";
import { UsageError } from "../usage-error.ts";

/** The exit code where something is not explained; `main.ts` has that for not having looked. */
const NOT_EXPLAINED = 1;

export const reconcile: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...WHOSE,
    json: { type: "boolean", default: false },
  });
  if (positionals[0] !== undefined) throw new UsageError(`reconcile takes no argument "${positionals[0]}"`);
  const { openService } = await import("../open-service.ts");
  const { reconcile: explain } = await import("../reconcile.ts");
  const { service, close } = await openService(values);
  const isExplained = await explain(service, print, values);
  await close();
  await end(isExplained ? 0 : NOT_EXPLAINED);
};
