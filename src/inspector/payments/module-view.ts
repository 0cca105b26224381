/** A payment module's view of its rows in the inspector. */
import type { InspectedPaymentParts } from "../../payments/payment-storage.ts";
import type { RelatedId } from "../find-related.ts";
import type { SecretFilter } from "../show-values.ts";
import type { MoneyTally } from "./money.ts";
import type { OrderPart } from "./order-part.ts";

/** A call on the timeline of an instance, beside its steps. */
export interface TimelineCall {
  readonly number: number;
  /** The act, up to the name of the instance that did it. */
  readonly words: string;
  readonly instance: string;
  readonly of: string;
  readonly at: number;
  readonly durationMs: number;
  /** The answer or the error, in words. */
  readonly outcome: string;
  readonly isGood: boolean;
}

/** Each answers null, or nothing, for what is of others. */
export interface ModuleView {
  /** The transaction that an instance belongs to. */
  transactionOf(payments: InspectedPaymentParts, instance: string): Promise<string | null>;
  /** Instances of a transaction besides its own. */
  relations(payments: InspectedPaymentParts, transactionId: string): Promise<readonly RelatedId[]>;
  /** Where the money of a transaction came from and went to, asset by asset. */
  flows(payments: InspectedPaymentParts, transactionId: string): Promise<readonly MoneyTally[] | null>;
  /** The module's rows of a transaction, as branches of its tree. */
  branches(payments: InspectedPaymentParts, transactionId: string): Promise<readonly OrderPart[]>;
  /** Transactions that a person finds by this text. */
  search(payments: InspectedPaymentParts, text: string): Promise<readonly RelatedId[]>;
  /** Troubles by instance. */
  troubles(
    payments: InspectedPaymentParts,
    limit: number,
  ): Promise<readonly (readonly [id: string, trouble: string])[]>;
  /** Calls on the timeline of an instance of a transaction. */
  calls?(
    payments: InspectedPaymentParts,
    instance: string,
    of: { readonly transactionId: string; readonly redact: SecretFilter },
  ): Promise<readonly TimelineCall[]>;
}
