/** `release`: an operator allows a deposit address to be settled, or foreign tokens to leave it. */
import type { Command } from "../print.ts";
import { readArguments } from "../read-arguments.ts";
import { UsageError } from "../usage-error.ts";
import { releasedPage, returnPage } from "./pages.ts";
import { ACTING_OPTIONS, actedBy, onlyArgument, shown, withOperator } from "./with-operator.ts";

export const release: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...ACTING_OPTIONS,
    mint: { type: "string" },
    to: { type: "string" },
  });
  const transactionId = onlyArgument("release", "the id of a transaction", positionals);
  const { mint, to } = values;
  if (to !== undefined && mint === undefined) throw new UsageError("--to expects the --mint that goes there");
  const by = actedBy(values);
  await withOperator(values, async (operator) => {
    if (mint === undefined) {
      const released = await operator.releaseDeposit(transactionId, by);
      print(shown(values.json, released, releasedPage(released)));
      return;
    }
    const ordered = await operator.returnTokens(transactionId, { mint, to }, by);
    print(shown(values.json, ordered, returnPage(ordered)));
  });
};
