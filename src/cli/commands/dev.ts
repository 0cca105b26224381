/** The arguments of `paystate dev`. */
import type { Command } from "../print.ts";
import { PORTS, readArguments, wholeNumber } from "../read-arguments.ts";
import { UsageError } from "../usage-error.ts";

/** The service takes no longer delay: the blockhash of a payment would be too old when it is sent. */
const DELAYS = { least: 0, most: 20_000 };

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
  const { dev: live } = await import("../dev.ts");
  await live(wanted);
};
