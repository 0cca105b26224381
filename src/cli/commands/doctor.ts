/** The arguments of `paystate doctor`. */
import { end, type Command, UsageError } from "../command.ts";
import { readArguments, WHOSE } from "../read-arguments.ts";

export const doctor: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...WHOSE,
    database: { type: "string" },
    json: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    live: { type: "boolean", default: false },
  });
  if (positionals[0] !== undefined) throw new UsageError(`doctor takes no argument "${positionals[0]}"`);
  const { doctor: examine } = await import("../doctor/doctor.ts");
  const isWell = await examine(values, print);
  await end(isWell ? 0 : 1);
};
