/** The arguments of `paystate listen`. */
import type { Command } from "../print.ts";
import { PORTS, readArguments, wholeNumber } from "../read-arguments.ts";
import { stopOnSignal } from "../stop-on-signal.ts";
import { UsageError } from "../usage-error.ts";

export const listen: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    "forward-to": { type: "string" },
    port: { type: "string", default: "3211" },
    events: { type: "string" },
    data: { type: "string", default: ".paystate" },
    debug: { type: "boolean", default: false },
  });
  if (positionals[0] !== undefined) throw new UsageError(`listen takes no argument "${positionals[0]}"`);
  if (values["forward-to"] === undefined) throw new UsageError("listen expects --forward-to URL");
  const { eventOf, targetOf } = await import("../trigger.ts");
  const { NOTICE_EVENTS } = await import("../../payments/webhooks/sending/notice-body.ts");
  const wanted = {
    forwardTo: targetOf("--forward-to", values["forward-to"]),
    port: wholeNumber("--port", values.port, PORTS),
    events: [...new Set(values.events?.split(",").map(eventOf) ?? NOTICE_EVENTS)],
    dataFolder: values.data,
  };
  const { listen: forward } = await import("../listen.ts");
  stopOnSignal(await forward(wanted, print));
};
