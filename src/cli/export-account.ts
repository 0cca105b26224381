/** `paystate account export`: the sums of an account's transactions of a time, as CSV on stdout. */
import { pipeline } from "node:stream/promises";
import { isPaymentError } from "../errors/errors.ts";
import { exportQuery } from "../payments/frame/requests.ts";
import { parseRequest } from "../payments/frame/request-fields.ts";
import { type Command, end, UsageError } from "./command.ts";
import { openService } from "./open-service.ts";
import { onlyArgument, readArguments, WHOSE } from "./read-arguments.ts";

const TIMES = { from: { type: "string" }, to: { type: "string" }, by: { type: "string" } } as const;

/** Ends with 1 where the export ends before its last line. */
export const exportAccount: Command = async (args) => {
  const { values, positionals } = readArguments(args, { ...WHOSE, ...TIMES });
  const accountId = onlyArgument("account export", ["the id of an account", "one id"], positionals);
  const query = queryOf(values);
  const { service, close } = await openService(values);
  if (service.exportTransactions === undefined) {
    throw new Error(
      "the exported `service` has no exportTransactions: expected what createPaymentService returns",
    );
  }
  const caller = { accountId, tier: "free", scopes: ["transactions:read"] } as const;
  await pipeline(await service.exportTransactions(caller, query), process.stdout, { end: false });
  await close();
  await end(0);
};

/** The options as a query. Throws `UsageError` for the first that cannot be used. */
function queryOf({
  from,
  to,
  by,
}: Readonly<Partial<Record<keyof typeof TIMES, string>>>): ReturnType<
  typeof parseRequest<typeof exportQuery>
> {
  try {
    return parseRequest(exportQuery, { from, to, by });
  } catch (error) {
    if (!isPaymentError(error, "VALIDATION_ERROR")) throw error;
    const [field] = error.details.fields;
    throw new UsageError(`--${field?.path ?? ""}: ${field?.message ?? ""}`, { cause: error });
  }
}
