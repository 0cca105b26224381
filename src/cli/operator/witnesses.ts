/** `witnesses`: lowers for some minutes how many endpoints must agree, or ends that. */
import type { Command } from "../print.ts";
import { readArguments, wholeNumber } from "../read-arguments.ts";
import { UsageError } from "../usage-error.ts";
import { ACTING_OPTIONS, actedBy, noArgument, shown, withOperator } from "./with-operator.ts";

const MAX_WITNESSES = 100;
const MAX_MINUTES = 24 * 60;

export const witnesses: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...ACTING_OPTIONS,
    lower: { type: "string" },
    minutes: { type: "string" },
    restore: { type: "boolean", default: false },
  });
  noArgument("witnesses", positionals);
  const { lower, minutes, restore } = values;
  if ((lower === undefined) !== (minutes === undefined) || (lower === undefined) !== restore) {
    throw new UsageError("expected --lower NUMBER with --minutes MINUTES, or --restore");
  }
  const by = actedBy(values);
  if (lower === undefined || minutes === undefined) {
    await withOperator(values, async (operator) => {
      await operator.restoreWitnesses(by);
      print(shown(values.json, { restored: true }, "The ledger's own number of witnesses holds again."));
    });
    return;
  }
  const wanted = {
    witnesses: wholeNumber("--lower", lower, { least: 1, most: MAX_WITNESSES }),
    minutes: wholeNumber("--minutes", minutes, { least: 1, most: MAX_MINUTES }),
  };
  await withOperator(values, async (operator) => {
    const entry = await operator.lowerWitnesses(wanted, by);
    const said = `Until ${entry.until} the word of ${entry.witnesses} is enough for what is final. It ends by itself.`;
    print(shown(values.json, entry, said));
  });
};
