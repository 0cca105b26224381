/** The ways to pay, a line for each that brings one. */
import type { CreatedTransferBody } from "./frame/signed/accept-signed.ts";
import type { CreatedOrderBody } from "./private/accept-order.ts";

/** The answer to POST /v1/transactions. */
export type CreatedTransactionBody = CreatedTransferBody | CreatedOrderBody;
