/** Explains to the owner why a transaction waits: a code, and a sentence for people. */
import { z } from "zod";
import type { DepositRecord } from "./tables/deposits.ts";
import type { TransactionAttention, TransactionRecord } from "./tables/orders.ts";

/** The fields of a transaction that tell why it waits; both null while nothing stands in the way. */
export const attentionFields = {
  attention: z
    .enum(["unprovable", "held", "waiting_for_price", "waiting_for_funds"])
    .nullable()
    .describe(
      "What keeps it from going on; `unprovable`: no evidence tells whether it landed. Null while nothing does.",
    ),
  attentionMessage: z.string().nullable().describe("The same as a sentence."),
};

type AttentionBody = z.output<z.ZodObject<typeof attentionFields>>;

interface AttentionFacts {
  readonly transaction: Pick<TransactionRecord, "attention">;
  /** The deposit address; undefined in wallet mode. */
  readonly deposit: DepositRecord | undefined;
}

/** The reason why money is held stays with the operator: it may be a suspicion. */
const HELD = "The money of this transaction is held until the operator has looked at it. Nothing is lost.";
const MESSAGES: Readonly<Record<TransactionAttention, string>> = {
  unprovable:
    "No evidence tells whether this transaction landed: its last block is past, and the nodes that answer do not have " +
    "the history of that time or contradict each other. It stays open until a node that has it is asked, or an operator settles it.",
};

export function messageOf(attention: TransactionAttention): string {
  return MESSAGES[attention];
}

/** The first reason that applies. */
export function attentionOf({ transaction, deposit }: AttentionFacts): AttentionBody {
  if ((deposit?.heldReason ?? null) !== null) return { attention: "held", attentionMessage: HELD };
  const reason = transaction.attention;
  return { attention: reason, attentionMessage: reason === null ? null : messageOf(reason) };
}
