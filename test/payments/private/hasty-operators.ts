/** Operators who decide at any moment, without looking: each act keeps to the rules of the service, or is refused. */
// modules: private
import type { Address } from "../../../src/core/address.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { ActContext } from "../../../src/payments/frame/intake/rules.ts";
import type { ResolveCommand, ResolveResult } from "../../../src/payments/frame/acts/command.ts";
import type { LifeNodes } from "./life-nodes.ts";
import type { LivedOrder } from "./lived-order.ts";
import type { LivedSend } from "./lived-send.ts";
import type { OperatorAct } from "./random-acts.ts";
import { ASSETS } from "./random-life.ts";

const ANN: ActContext = { actor: "ann", reason: "in a hurry" };
const BOB: ActContext = { actor: "bob", reason: "ann says so" };

/** What they decide about. */
export interface Decided {
  readonly orders: readonly LivedOrder[];
  readonly sends: readonly LivedSend[];
  readonly nodes: LifeNodes;
  /** Whose tokens can be returned. */
  readonly foreignMint: Address;
}

/** Does it. Rejects with what the service refuses it with. */
export async function decide(
  { operator, reconcile }: Pick<PaymentService, "operator" | "reconcile">,
  act: OperatorAct,
  { orders, sends, nodes, foreignMint }: Decided,
): Promise<unknown> {
  switch (act.does) {
    case "hold":
    case "release":
    case "retry":
    case "decline":
    case "conclude":
    case "collect":
    case "foreclose":
    case "refundTo":
    case "foreign": {
      const order = orders[act.order];
      return order === undefined ? null : resolved(operator, order, commandOf(act, order, foreignMint));
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

type OrderAct = Extract<OperatorAct, { order: number }>;

function commandOf(act: OrderAct, { elsewhere, words }: LivedOrder, mint: Address): ResolveCommand {
  switch (act.does) {
    case "foreclose":
      return { action: "foreclose", chunk: act.chunk };
    case "refundTo": {
      const asset = ASSETS[(ASSETS.indexOf(words.asset) + act.asset) % ASSETS.length] ?? "SOL";
      return { action: "refundTo", address: elsewhere.address, asset };
    }
    case "foreign":
      return { action: "foreign", mint, ...(act.to === "sender" ? {} : { address: elsewhere.address }) };
    default:
      return { action: act.does };
  }
}

/** Decided, and confirmed by another person if it has to be. */
export async function resolved(
  operator: PaymentService["operator"],
  { id }: Pick<LivedOrder, "id">,
  command: ResolveCommand,
): Promise<ResolveResult> {
  const asked = await operator.resolve(id, command, ANN);
  if (asked.state === "done") return asked;
  const { address } = asked;
  await operator.approve(id, address === undefined ? {} : { address }, BOB);
  return asked;
}
