/** `settle`: the operator's word under which signature a transaction landed; the evidence is read from the chain. */
import type { Command } from "../print.ts";
import { readArguments } from "../read-arguments.ts";
import { UsageError } from "../usage-error.ts";
import { settledPage, settledPaymentPage } from "./pages.ts";
import { ACTING_OPTIONS, actedBy, onlyArgument, shown, withOperator } from "./with-operator.ts";

export const settle: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, { ...ACTING_OPTIONS, signature: { type: "string" } });
  const transactionId = onlyArgument("settle", "the id of a transaction", positionals);
  const { signature } = values;
  if (signature === undefined) throw new UsageError("settle expects the --signature that has landed");
  const by = actedBy(values);
  await withOperator(values, async (operator) => {
    const settled = await operator.settleTransaction({ transactionId, signature }, by);
    if (!("landing" in settled)) {
      print(shown(values.json, settled, settledPaymentPage(settled)));
      return;
    }
    const { landing, ...rest } = settled;
    const asJson = { ...rest, landing: { ...landing, fee: String(landing.fee) } };
    print(shown(values.json, asJson, settledPage(settled)));
  });
};
