/** Reconciles a service with the chain: what every service has, and the orders of private mode. */
import type { PaymentContext } from "../payments/payment-storage.ts";
import { routingOff } from "../errors/errors.ts";
import {
  reconcile,
  type CommonReconciliation,
  type ReconciledPart,
} from "../payments/operator/reconcile/reconcile.ts";
import type { TellProgress } from "../payments/frame/reconcile-progress.ts";
import {
  isExplained,
  noAddresses,
  reconcileAddresses,
  type AddressReconciliation,
} from "../payments/private/reconcile/orders.ts";
import type { ServiceParts } from "./service-parts.ts";

/** The chain's answer about everything that this database has recorded. */
export interface Reconciliation extends AddressReconciliation, CommonReconciliation {}

type ReconciledService = Pick<
  ServiceParts,
  "context" | "options" | "chain" | "engine" | "routing" | "swapper"
>;

/** Reconciles with the ledger's own number of witnesses, to find mistakes of fewer witnesses. */
export async function reconcileService(parts: ReconciledService): Promise<Reconciliation> {
  const { chain, routing, swapper } = parts;
  const context = { ...parts.context, ledger: parts.options.ledger };
  if (routing === null && (await context.storage.ordersAfter("", 1)).length > 0) {
    throw routingOff();
  }
  await chain.bind();
  const sponsor = routing?.terms.sponsor.address ?? null;
  const desk = swapper?.direct?.signer.address ?? null;
  return reconcile({
    ...context,
    reconcilePart: (tell) => reconcileOrders(parts, context, tell),
    purses: [
      ...(sponsor === null ? [] : [{ purse: "sponsor" as const, address: sponsor }]),
      ...(desk === null ? [] : [{ purse: "desk" as const, address: desk }]),
    ],
  });
}

async function reconcileOrders(
  { routing, engine }: ReconciledService,
  context: PaymentContext,
  tell: TellProgress,
): Promise<ReconciledPart<AddressReconciliation>> {
  const body =
    routing === null
      ? noAddresses(context.assets)
      : await reconcileAddresses({ ...context, engine, orders: routing.orders, tell });
  return { body, isExplained: isExplained(body) };
}
