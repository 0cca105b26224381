/** The use cases of a service, each made once over its parts. */
import type { CommitAdditions, CommitResult } from "../engine/index.ts";
import type { PaymentTables } from "../payments/frame/tables.ts";
import type { TransactionRecord } from "../payments/frame/tables/orders.ts";
import type { PaymentWrite } from "../payments/frame/payment-storage.ts";
import { AmountLimitCheck } from "../payments/frame/intake/amounts.ts";
import { IntakeCheck } from "../payments/frame/intake/intake-check.ts";
import { journaled, type OrderDecision } from "../payments/operator/recovery/journal.ts";
import { acceptOrder, type CreatedOrderBody } from "../payments/private/accept-order.ts";
import type { AcceptHandler, CheckedRequest } from "../payments/frame/quotes/checked-request.ts";
import type { Asked, QuoteWay } from "../payments/frame/quotes/quote-way.ts";
import { orderQuotes } from "../payments/private/quote-order.ts";
import { swapQuotes } from "../payments/swap/quote-swap.ts";
import { transferQuotes } from "../payments/wallet/quote-transfer.ts";
import { QuoteService } from "../payments/frame/quotes/quotes.ts";
import { acceptSwap } from "../payments/swap/accept-swap.ts";
import { TransactionAcceptance } from "../payments/frame/transactions/create-transaction.ts";
import { acceptTransfer } from "../payments/wallet/accept-transfer.ts";
import { signedMode } from "../payments/wallet/signed-mode.ts";
import { orderMode } from "../payments/private/order-mode.ts";
import type { CreatedTransactionBody } from "../payments/modules.ts";
import type { TransactionMode, TransactionWay } from "../payments/frame/transactions/transaction-mode.ts";
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

interface Gates {
  readonly intake: IntakeCheck;
  readonly amounts: AmountLimitCheck;
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
  const modes = modesOf(parts);
  const { secretOverlapMs } = options.webhooks;
  return {
    quotes: new QuoteService({ ...context, ...gates, commit: commitQuote, ways: quoteWays(parts) }),
    taking: takingOf(parts, gates, modes),
    modes,
    webhooks: { ...context, sealing, delivery, commit, secretOverlapMs, rules },
    deliveries: { storage, clock, engine, workflow: deliveries },
  };
}

/** The ways to pay that are on. */
function quoteWays(parts: ServiceParts): readonly QuoteWay[] {
  const { context, swapper, routing } = parts;
  const routed = { ...context, swapper, ownAddresses: ownAddresses(parts) };
  return [
    transferQuotes(context),
    ...(swapper === null ? [] : [swapQuotes({ ...context, swapper })]),
    ...(routing === null ? [] : [orderQuotes({ ...routed, pricing: routing.pricing })]),
  ];
}

/** How transactions of each mode are shown and cancelled, whatever is on. */
function modesOf({ context, engine, transfers, routing, recordEnd }: ServiceParts): Modes {
  const { assets } = context;
  const orders = routing?.orders ?? null;
  return [signedMode({ assets, engine, transfers }), orderMode({ ...context, engine, orders, recordEnd })];
}

function takingOf(
  parts: ServiceParts,
  gates: Gates,
  modes: Modes,
): TransactionAcceptance<CreatedTransactionBody> {
  const ways = transactionWays(parts);
  return new TransactionAcceptance({ ...parts.context, ...gates, ways, modes });
}

/** The ways to take a transaction that are on. */
function transactionWays(parts: ServiceParts): readonly TransactionWay<CreatedTransactionBody>[] {
  const { options, context, transfers, swapper } = parts;
  const { broadcastDelayMs } = options;
  const accepting = {
    ...context,
    commit: commitWhenCompared(parts),
    startTransfer: (transaction: TransactionRecord, reservations: readonly string[]) =>
      startTransfer(transfers, transaction, { broadcastDelayMs, reservations }),
  };
  const orders = orderAcceptance(parts);
  return [
    {
      takes: ({ mode, isSwap }) => mode === "wallet" && !isSwap,
      accept: (request) => acceptTransfer(accepting, request),
    },
    ...(swapper === null
      ? []
      : [
          {
            takes: ({ mode, isSwap }: Asked) => mode === "wallet" && isSwap,
            accept: (request: CheckedRequest) => acceptSwap({ ...accepting, swapper }, request),
          },
        ]),
    ...(orders === null ? [] : [{ takes: ({ mode }: Asked) => mode === "private", accept: orders }]),
  ];
}

/** Accepts orders; the host's journal, if any, records an order before anybody knows its address. */
function orderAcceptance(parts: ServiceParts): AcceptHandler<CreatedOrderBody> | null {
  const { options, context, swapper, routing } = parts;
  if (routing === null) return null;
  const commit = commitWhenCompared(parts);
  const accepting = { ...context, routing, swapper, ownAddresses: ownAddresses(parts), commit };
  const accept = (request: CheckedRequest): Promise<OrderDecision> => acceptOrder(accepting, request);
  const { recovery: journal } = options;
  return journal === undefined ? accept : journaled(accept, { journal, clock: context.clock });
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
