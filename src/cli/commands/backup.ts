/** The arguments of `paystate backup`. */
import type { Command } from "../print.ts";
import { readArguments } from "../read-arguments.ts";
import { UsageError } from "../usage-error.ts";

export const backup: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    data: { type: "string" },
    database: { type: "string" },
    json: { type: "boolean", default: false },
    debug: { type: "boolean", default: false },
  });
  const [target, more] = positionals;
  if (target === undefined) throw new UsageError("backup expects the name of a new file");
  if (more !== undefined) throw new UsageError(`backup takes one file, and no "${more}"`);
  const { backup: copy } = await import("../backup.ts");
  await copy(target, values, print);
};
