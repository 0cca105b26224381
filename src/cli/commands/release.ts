/** The arguments of `paystate release`. */
import { end } from "../end.ts";
import type { Command } from "../print.ts";
import { readArguments, WHOSE } from "../read-arguments.ts";
import { UsageError } from "../usage-error.ts";

export const release: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...WHOSE,
    mint: { type: "string" },
    to: { type: "string" },
  });
  const [transactionId, more] = positionals;
  if (transactionId === undefined) throw new UsageError("release expects the id of a transaction");
  if (more !== undefined) throw new UsageError(`release takes one transaction, and no "${more}"`);
  const { mint, to } = values;
  if (to !== undefined && mint === undefined) throw new UsageError("--to expects the --mint that goes there");
  const { openService } = await import("../open-service.ts");
  const { release: settle, returnTokens } = await import("../release.ts");
  const { service, close } = await openService(values);
  await (mint === undefined
    ? settle(service, transactionId, print)
    : returnTokens(service, { transactionId, mint, to }, print));
  await close();
  await end(0);
};
