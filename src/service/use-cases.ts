/** The use cases of a service, each made once over its parts. */
import type { CommitAdditions, CommitResult } from "../engine/index.ts";
import type { PaymentTables, PaymentWrite } from "../payments/payment-storage.ts";
import type { TransactionRecord } from "../payments/frame/tables/orders.ts";
import { AmountLimitCheck } from "../payments/frame/intake/amounts.ts";
import { IntakeCheck } from "../payments/frame/intake/intake-check.ts";
import { journaled, type OrderDecision } from "../payments/private/recovery/journal.ts";
import { acceptOrder, type CreatedOrderBody } from "../payments/private/accept-order.ts";
import type { CheckedRequest } from "../payments/frame/quotes/checked-request.ts";
import { orderQuotes } from "../payments/private/quote-order.ts";
import { QuoteService } from "../payments/frame/quotes/quotes.ts";
import { TransactionAcceptance } from "../payments/frame/transactions/create-transaction.ts";
import { signedMode } from "../payments/wallet/signed-mode.ts";
import { orderMode } from "../payments/private/order-mode.ts";
import { WAY_MODULES, type CreatedTransactionBody } from "../payments/modules.ts";
import type { PaymentWay } from "../payments/frame/way-module.ts";
import type { PrivateRouting } from "../payments/private/private-routing.ts";
import type { TransactionMode } from "../payments/frame/transactions/transaction-mode.ts";
import { startTransfer } from "../payments/wallet/wallet-transfer-workflow.ts";
import type { DeliveryParts } from "../payments/webhooks/deliveries.ts";
import type { WebhookContext } from "../payments/webhooks/webhook-fields.ts";
import { ownAddresses } from "./open-purses.ts";
import type { ServiceParts } from "./service-parts.ts";

type Modes = readonly TransactionMode<CreatedTransactionBody>[];

/** Use cases for callers, and dependencies of the functions about webhooks. */
export interface UseCaseParts {
  readonly quotes: QuoteService;
  readonly taking: TransactionAcceptance<CreatedTransactionBody>;
  readonly modes: Modes;
  readonly webhooks: WebhookContext;
  readonly deliveries: DeliveryParts;
}

export function useCasesOf(parts: ServiceParts): UseCaseParts {
  const { options, context, gate, engine } = parts;
  const { sealing, delivery, deliveries, rules } = parts.webhooks;
  const { storage, clock } = context;
  const commit = async (writes: readonly PaymentWrite[]): Promise<boolean> =>
    (await engine.commit({ writes })).ok;
  const commitQuote = async (writes: readonly PaymentWrite[]): Promise<boolean> => {
    gate.pass();
    return commit(writes);
  };
  const gates = {
    intake: new IntakeCheck({ ...context, ledger: parts.observed }),
    amounts: new AmountLimitCheck(context),
  };
  const ways = waysOf(parts);
  const modes = modesOf(parts);
  const { secretOverlapMs } = options.webhooks;
  return {
    quotes: new QuoteService({ ...context, ...gates, commit: commitQuote, ways }),
    taking: new TransactionAcceptance({ ...context, ...gates, ways, modes }),
    modes,
    webhooks: { ...context, sealing, delivery, commit, secretOverlapMs, rules },
    deliveries: { storage, clock, engine, workflow: deliveries },
  };
}

/** How transactions of each mode are shown and cancelled, whatever is on. */
function modesOf({ context, engine, transfers, routing, recordEnd }: ServiceParts): Modes {
  const { assets } = context;
  const orders = routing?.orders ?? null;
  return [signedMode({ assets, engine, transfers }), orderMode({ ...context, engine, orders, recordEnd })];
}

/** The ways to pay that are on. */
function waysOf(parts: ServiceParts): readonly PaymentWay<CreatedTransactionBody>[] {
  const { options, context, transfers, swapper, routing } = parts;
  const { broadcastDelayMs } = options;
  const deps = {
    ...context,
    swapper,
    commit: commitWhenCompared(parts),
    startTransfer: (transaction: TransactionRecord, reservations: readonly string[]) =>
      startTransfer(transfers, transaction, { broadcastDelayMs, reservations }),
  };
  const ways = WAY_MODULES.flatMap((module) => module.ways?.(deps) ?? []);
  return routing === null ? ways : [...ways, orderWay(parts, routing)];
}

/** Private mode; the host's journal, if any, records an order before anybody knows its address. */
function orderWay(parts: ServiceParts, routing: PrivateRouting): PaymentWay<CreatedOrderBody> {
  const { options, context, swapper } = parts;
  const own = ownAddresses(parts);
  const commit = commitWhenCompared(parts);
  const accepting = { ...context, routing, swapper, ownAddresses: own, commit };
  const accept = (request: CheckedRequest): Promise<OrderDecision> => acceptOrder(accepting, request);
  const { recovery: journal } = options;
  return {
    ...orderQuotes({ ...context, swapper, ownAddresses: own, pricing: routing.pricing }),
    accept: journal === undefined ? accept : journaled(accept, { journal, clock: context.clock }),
  };
}

/** Commits new work only after the chain was compared, even when a provider has asked nothing of our ledger. */
function commitWhenCompared({
  gate,
  engine,
}: ServiceParts): (additions: CommitAdditions<PaymentTables>) => Promise<CommitResult> {
  return async (companions) => {
    gate.pass();
    return engine.commit(companions);
  };
}
