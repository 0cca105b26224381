/** Fields of every answer to POST /v1/transactions. */
import { text, time } from "../../payments/frame/body-schemas.ts";
import { factFields } from "../../payments/frame/quotes/transaction-facts.ts";

export const createdFields = {
  transactionId: text("The transaction's id."),
  status: text("`pending`, also when the same request is answered again."),
  createdAt: time("When it was taken."),
  ...factFields,
};
