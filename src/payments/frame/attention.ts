/** Explains to the owner why a transaction waits: a code, and a sentence for people. */
import { z } from "zod";

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

/** The sentence of each code. */
export const attentionMessages = {
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
} satisfies Readonly<Record<z.output<(typeof attentionFields)["attention"]> & string, string>>;
