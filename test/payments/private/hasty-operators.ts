/** Operators who decide at any moment, without looking: each act keeps to the rules of the service, or is refused. */
import { SOL_MINT, type Address } from "../../../src/address.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { ActContext } from "../../../src/payments/intake/rules.ts";
import type { LifeNodes } from "./life-nodes.ts";
import type { LivedOrder } from "./lived-order.ts";
import type { LivedSend } from "./lived-send.ts";
import type { OperatorAct } from "./random-acts.ts";

const ANN: ActContext = { actor: "ann", reason: "in a hurry" };
const BOB: ActContext = { actor: "bob", reason: "ann says so" };

/** What they decide about. */
export interface Decided {
  readonly orders: readonly LivedOrder[];
  readonly sends: readonly LivedSend[];
  readonly nodes: LifeNodes;
  /** Whose tokens can be returned. */
  readonly foreignMint: Address;
  readonly approvals: 1 | 2;
}

/** Does it. Rejects with what the service refuses it with. */
export async function decide(
  { operator, reconcile }: Pick<PaymentService, "operator" | "reconcile">,
  act: OperatorAct,
  { orders, sends, nodes, foreignMint, approvals }: Decided,
): Promise<unknown> {
  const order = "order" in act ? orders[act.order] : undefined;
  const held = `held:${order?.address ?? ""}`;
  switch (act.does) {
    case "release":
      return operator.releaseDeposit(order?.id ?? "", ANN);
    case "refundTo": {
      const address = order?.elsewhere.address ?? "";
      const asked = await operator.resolve(held, { action: "refundTo", address }, ANN);
      return approvals === 1 ? asked : operator.approve(held, { address }, BOB);
    }
    case "writeOff":
      return operator.resolve(held, { action: "writeOff" }, ANN);
    case "returnTokens": {
      const mint = act.mint === "foreign" ? foreignMint : SOL_MINT;
      const to = act.to === "sender" ? {} : { to: order?.elsewhere.address };
      return operator.returnTokens(order?.id ?? "", { mint, ...to }, ANN);
    }
    case "settle": {
      const { id = "", signature = "" } = sends[act.send]?.taken ?? {};
      return operator.settleTransaction({ transactionId: id, signature }, ANN);
    }
    case "pause":
      return operator.pause({ mode: act.mode }, ANN);
    case "resume":
      return operator.resume({ mode: act.mode }, ANN);
    case "suspend": {
      const { minutes } = act;
      return operator.suspendEndpoint({ endpoint: nodes.names[act.endpoint] ?? "", minutes }, ANN);
    }
    case "bring back":
      return operator.restoreEndpoint(nodes.names[act.endpoint] ?? "", ANN);
    case "lower witnesses":
      return operator.lowerWitnesses({ witnesses: 1, minutes: act.minutes }, ANN);
    case "restore witnesses":
      return operator.restoreWitnesses(ANN);
    case "reconcile":
      return reconcile();
  }
}
