/** Tells why a transaction of an order fails, by a run beforehand or by its landed error, in terms of its plan. */
import type { Address } from "../../core/address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { OrderFault } from "../../ledger/order-fault.ts";
import type { TransactionPlan, UnsignedTransaction } from "../../ledger/routing.ts";
import { joinTransaction } from "../../ledger/wire-format.ts";
import { follows } from "../agree.ts";
import { readChainError, simulate } from "../simulation.ts";
import type { NodeContext } from "../ask.ts";
import { markerOf } from "../derived-addresses.ts";
import { ANY_TERMS, BUDGET_INSTRUCTIONS, compilePlan } from "./build-transaction.ts";
import { planInstructions } from "./plan-instructions.ts";

/** See `RoutingLedger.tryOrder`. */
export async function tryOrder(
  nodes: NodeContext,
  plan: TransactionPlan,
  { message, signers, blockhash }: UnsignedTransaction,
): Promise<Evidence<OrderFault> | null> {
  const blank = signers.map(() => null);
  const failure = await simulate(nodes, { bytes: joinTransaction(message, blank), blockhash }, false);
  return failure && follows(failure, ({ err }) => faultIn(plan, err, JSON.stringify(err)));
}

/** See `RoutingLedger.explainOrder`. Asks no node, and never throws, for no text. */
export function explainOrder(plan: TransactionPlan, error: Evidence<string>): Evidence<OrderFault> {
  return follows([error], ([text]) => faultIn(plan, parsed(text), text));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function faultIn(plan: TransactionPlan, err: unknown, text: string): OrderFault {
  const read = readChainError(err);
  const { error } = read;
  switch (read.of) {
    case "transaction":
      return { at: null, account: error === "fee" ? plan.feePayer : null, error, text };
    case "account":
      return { ...shortOfRent(plan, read.index), text };
    case "instruction": {
      const failed = planInstructions(plan.moves)[read.index - BUDGET_INSTRUCTIONS];
      if (failed === undefined) return { at: null, account: null, error: "other", text };
      return { at: { move: failed.move, step: failed.step }, account: null, error, text };
    }
  }
}

/** An account that is left with too little, which the chain names by its place in the message. */
function shortOfRent(plan: TransactionPlan, index: number): Omit<OrderFault, "text"> {
  const message = compilePlan(plan.feePayer, planInstructions(plan.moves), ANY_TERMS);
  const account = (message.staticAccountKeys[index]?.toBase58() ?? null) as Address | null;
  if (account === null) return { at: null, account, error: "other" };
  const move = plan.moves.findIndex(
    (each) => each.does === "buy" && markerOf(each.base, each.seed) === account,
  );
  return { at: move < 0 ? null : { move, step: "fund" }, account, error: "rent" };
}
