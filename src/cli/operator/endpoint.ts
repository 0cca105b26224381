/** `endpoint`: takes an endpoint out of service for some minutes, or ends that. */
import type { Command } from "../print.ts";
import { readArguments, wholeNumber } from "../read-arguments.ts";
import { UsageError } from "../usage-error.ts";
import { ACTING_OPTIONS, actedBy, noArgument, shown, withOperator } from "./with-operator.ts";

const MAX_MINUTES = 24 * 60;

export const endpoint: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...ACTING_OPTIONS,
    suspend: { type: "string" },
    minutes: { type: "string" },
    restore: { type: "string" },
  });
  noArgument("endpoint", positionals);
  const { suspend, minutes, restore } = values;
  const by = actedBy(values);
  if (restore !== undefined && suspend === undefined && minutes === undefined) {
    await withOperator(values, async (operator) => {
      await operator.restoreEndpoint(restore, by);
      print(shown(values.json, { restored: restore }, `${restore} is in service again.`));
    });
    return;
  }
  if (restore !== undefined || suspend === undefined || minutes === undefined) {
    throw new UsageError("expected --suspend NAME with --minutes MINUTES, or --restore NAME");
  }
  const wanted = {
    endpoint: suspend,
    minutes: wholeNumber("--minutes", minutes, { least: 1, most: MAX_MINUTES }),
  };
  await withOperator(values, async (operator) => {
    const entry = await operator.suspendEndpoint(wanted, by);
    const said = `Until ${entry.until} ${entry.endpoint} is not asked. It ends by itself.`;
    print(shown(values.json, entry, said));
  });
};
