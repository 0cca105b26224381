/** How the transactions of one mode are shown, answered anew and cancelled, also while no new ones of it are taken. */
import { routingOff } from "../../../errors/errors.ts";
import type { SendResult } from "../../../engine/index.ts";
import type { AcceptHandler } from "../quotes/checked-request.ts";
import type { Asked } from "../quotes/quote-way.ts";
import type { MintSum } from "../assets/shown-amount.ts";
import type { attentionMessages } from "../attention.ts";
import type { TransactionFacts } from "../notices/notice-body.ts";
import type { RecipientRecord, TransactionRecord, TransactionView } from "../tables/orders.ts";
import type { TransactionBody } from "./transaction-schema.ts";

/** The answer to POST /v1/transactions; each mode adds fields. */
export interface CreatedBody extends TransactionFacts {
  readonly transactionId: string;
  readonly status: string;
  readonly mode: TransactionRecord["mode"];
  readonly createdAt: string;
}

/** The outcome of a recipient, with the signature of the paying transaction; null while there is none. */
export type RecipientOutcome = Pick<TransactionBody["recipients"][number], "status" | "signature">;

/** The refund of a mint in one transaction, in base units. */
export interface RefundSum extends MintSum {
  /** Withheld for the transaction. */
  readonly cost: bigint;
  readonly to: string;
  readonly signature: string | null;
  readonly status: "pending" | "paid" | "held";
}

/** The details that a mode adds to its transaction. */
export interface TransactionDetails {
  /** Base units of its asset; null while unknown. */
  readonly fee: bigint | null;
  /** The signature of the transaction that bore the cost; null where it is more than the cost of one. */
  readonly feeSignature: string | null;
  outcomeOf(share: RecipientRecord): RecipientOutcome;
  /** The signatures of every transaction that pays recipients. */
  readonly signatures: readonly string[];
  readonly refunds: readonly RefundSum[];
  /** Base units of what was given for what the recipients got. */
  readonly given: bigint;
  /** Why it waits; null while nothing stands in the way. */
  readonly attention: keyof typeof attentionMessages | null;
  /** Fields that this mode alone shows. */
  readonly own: Partial<TransactionBody>;
}

export interface TransactionMode<Body extends CreatedBody = CreatedBody> {
  readonly mode: TransactionRecord["mode"];
  /**
   * Begins its reads at once, so that all reads of the turn share a state. Null for a transaction whose own rows are gone.
   */
  details(ids: readonly string[]): Promise<(view: TransactionView) => TransactionDetails | null>;
  /** The first answer, unchanged by later events; null where its own rows are gone. */
  createdBody(transaction: TransactionRecord): Promise<Body | null>;
  /** Has its chart decide whether it is too late. */
  cancel(transaction: TransactionRecord): Promise<SendResult>;
}

/** Takes transactions; every way has its own checks. */
export interface TransactionWay<Body extends CreatedBody = CreatedBody> {
  takes(asked: Asked): boolean;
  readonly accept: AcceptHandler<Body>;
}

/** The mode of a transaction. Throws `ROUTING_UNAVAILABLE` off where no module shows its transactions. */
export function modeOf<Body extends CreatedBody>(
  modes: readonly TransactionMode<Body>[],
  { mode }: Pick<TransactionRecord, "mode">,
): TransactionMode<Body> {
  const found = modes.find((each) => each.mode === mode);
  if (found === undefined) throw routingOff();
  return found;
}
