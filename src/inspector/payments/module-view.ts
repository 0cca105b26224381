/** What a module of payments shows of its rows in the inspector. */
import type { InspectedPaymentParts } from "../../payments/payment-storage.ts";
import type { RelatedId } from "../find-related.ts";
import type { MoneyTally } from "./money.ts";
import type { OrderPart } from "./order-part.ts";

/** Each answers null, or nothing, for what is of others. */
export interface ModuleView {
  /** The transaction that an instance belongs to. */
  transactionOf(payments: InspectedPaymentParts, instance: string): Promise<string | null>;
  /** Instances of a transaction besides its own. */
  relations(payments: InspectedPaymentParts, transactionId: string): Promise<readonly RelatedId[]>;
  /** Where the money of a transaction came from and went to, asset by asset. */
  flows(payments: InspectedPaymentParts, transactionId: string): Promise<readonly MoneyTally[] | null>;
  /** The module's rows of a transaction, as a branch of its tree. */
  branch(payments: InspectedPaymentParts, transactionId: string): Promise<OrderPart | null>;
  /** Transactions that one looks for by this text. */
  search(payments: InspectedPaymentParts, text: string): Promise<readonly RelatedId[]>;
  /** Troubles by instance. */
  troubles(
    payments: InspectedPaymentParts,
    limit: number,
  ): Promise<readonly (readonly [id: string, trouble: string])[]>;
}
