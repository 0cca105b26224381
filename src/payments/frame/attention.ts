/** Explains to the owner why a transaction waits: a code, and a sentence for people. */
import { z } from "zod";
import type { TransactionAttention, TransactionView } from "./tables/orders.ts";
import type { OrderView } from "./tables/private.ts";

/** The fields of a transaction that tell why it waits; both null while nothing stands in the way. */
export const attentionFields = {
  attention: z
    .enum(["unprovable", "held", "missing", "waiting_for_price", "waiting_for_funds"])
    .nullable()
    .describe(
      "What keeps it from going on; `unprovable`: no evidence tells whether it landed. `missing`: money has left its address, and not by this service. Null while nothing does.",
    ),
  attentionMessage: z.string().nullable().describe("The same as a sentence."),
};

type AttentionBody = z.output<z.ZodObject<typeof attentionFields>>;

/** Why an order waits. The reason why money is held stays with the operator: it may be a suspicion. */
type OrderAttention = Exclude<NonNullable<AttentionBody["attention"]>, TransactionAttention>;

const MESSAGES: Readonly<Record<NonNullable<AttentionBody["attention"]>, string>> = {
  unprovable:
    "No evidence tells whether this transaction landed: its last block is past, and the nodes that answer do not have " +
    "the history of that time or contradict each other. It stays open until a node that has it is asked, or an operator settles it.",
  held: "The money of this transaction is held until the operator has looked at it. Nothing is lost.",
  missing:
    "Money has left the address of this transaction, and this service has not sent it. The operator has to look at it.",
  waiting_for_price:
    "What goes back bears its cost on the chain, whose price is not known now. It goes on by itself once it is.",
  waiting_for_funds:
    "The chain asks more for this transaction than was set aside for it. The operator has to let it go on.",
};

export function messageOf(attention: keyof typeof MESSAGES): string {
  return MESSAGES[attention];
}

/** The first reason that applies. */
export function attentionOf({
  transaction,
  order,
}: Pick<TransactionView, "transaction" | "order">): AttentionBody {
  const attention = (order === null ? null : orderAttention(order)) ?? transaction.attention;
  return { attention, attentionMessage: attention === null ? null : messageOf(attention) };
}

const WAITS = ["waiting_for_price", "waiting_for_funds"] as const;

function orderAttention({ holds, levels, transfers }: OrderView): OrderAttention | null {
  if (holds.some(({ endedAt }) => endedAt === null)) return "held";
  if (levels.some(({ missing }) => missing > 0n)) return "missing";
  const planned = transfers.filter(({ state }) => state === "planned");
  return WAITS.find((wait) => planned.some(({ reason }) => reason === wait)) ?? null;
}
