/** `paystate account export`: the sums of an account's transactions of a time, as CSV on stdout. */
import { pipeline } from "node:stream/promises";
import { isPaymentError } from "../errors/errors.ts";
import { exportQuery } from "../payments/frame/requests.ts";
import { parseRequest } from "../payments/frame/request-fields.ts";
import { end, UsageError } from "./command.ts";
import { openService, type ServiceOptions } from "./open-service.ts";

interface ExportOptions extends ServiceOptions {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly by: string;
}

/** Ends with 1 where the export ends before its last line. */
export async function exportAccount({ id: accountId, ...values }: ExportOptions): Promise<void> {
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
}

/** The options as a query. Throws `UsageError` for the first that cannot be used. */
function queryOf({
  from,
  to,
  by,
}: Omit<ExportOptions, "id">): ReturnType<typeof parseRequest<typeof exportQuery>> {
  try {
    return parseRequest(exportQuery, { from, to, by });
  } catch (error) {
    if (!isPaymentError(error, "VALIDATION_ERROR")) throw error;
    const [field] = error.details.fields;
    throw new UsageError(`--${field?.path ?? ""}: ${field?.message ?? ""}`, { cause: error });
  }
}
