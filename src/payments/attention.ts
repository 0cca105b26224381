/** Why a transaction needs an operator, in a word and in a sentence. */
import type { TransactionAttention, TransactionRecord } from "../../storage/records.ts";

const MESSAGES: Readonly<Record<TransactionAttention, string>> = {
  unprovable:
    "No evidence tells whether this transaction landed: its last block is past, and the nodes that answer do not have " +
    "the history of that time or contradict each other. It stays open until a node that has it is asked, or an operator settles it.",
};

/** The sentence for a word. */
export function messageOf(attention: TransactionAttention): string {
  return MESSAGES[attention];
}

/** Both, as its owner is shown them. */
export interface ShownAttention {
  /** Null while nothing is needed. */
  readonly attention: TransactionAttention | null;
  readonly attentionMessage: string | null;
}

export function shownAttention({ attention }: Pick<TransactionRecord, "attention">): ShownAttention {
  return { attention, attentionMessage: attention === null ? null : messageOf(attention) };
}
