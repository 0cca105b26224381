/** The arguments of `paystate machines`. */
import type { Command } from "../print.ts";
import { oneOf, readArguments } from "../read-arguments.ts";

export const machines: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    format: { type: "string", default: "mermaid" },
    debug: { type: "boolean", default: false },
  });
  const { drawMachines, MACHINE_FORMATS } = await import("../draw-machine.ts");
  oneOf("--format", values.format, MACHINE_FORMATS);
  print(await drawMachines(positionals, values.format));
};
