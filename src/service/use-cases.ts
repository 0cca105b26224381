/** The use cases of a service, each made once over its parts. */
import type { Engine } from "../engine/index.ts";
import type { PaymentTables } from "../payments/tables.ts";
import type { PaymentWrite } from "../payments/payment-storage.ts";
import { AmountChecks } from "../payments/intake/amounts.ts";
import { Intake } from "../payments/intake/intake.ts";
import { journaled } from "../payments/operator/recovery/journal.ts";
import { OrderAcceptance, type CreatedOrderBody } from "../payments/private/accept-order.ts";
import type { Accept } from "../payments/quotes/checked-request.ts";
import { Quotes } from "../payments/quotes/quotes.ts";
import { SwapAcceptance } from "../payments/swap/accept-swap.ts";
import { TransactionTaking } from "../payments/transactions/create-transaction.ts";
import { acceptTransfer } from "../payments/wallet/accept-transfer.ts";
import { SignedTransactions } from "../payments/wallet/accept-signed.ts";
import { startTransfer } from "../payments/wallet/wallet-transfer-workflow.ts";
import type { DeliveryParts } from "../payments/webhooks/deliveries.ts";
import type { WebhookContext } from "../payments/webhooks/webhook-context.ts";
import type { ServiceParts } from "./service-parts.ts";

/** Use cases for callers, and dependencies of the functions about webhooks. */
export interface UseCases {
  readonly quotes: Quotes;
  readonly taking: TransactionTaking;
  readonly webhooks: WebhookContext;
  readonly deliveries: DeliveryParts;
}

/** The parts that apply the operator's rules. */
interface Gates {
  readonly intake: Intake;
  readonly amounts: AmountChecks;
}

export function useCasesOf(parts: ServiceParts): UseCases {
  const { options, context, gate, engine, swapper, routing } = parts;
  const { sealing, delivery, deliveries, rules } = parts.webhooks;
  const { storage, clock } = context;
  const commit = async (writes: readonly PaymentWrite[]): Promise<boolean> =>
    (await engine.commit({ writes })).ok;
  const commitQuote = async (writes: readonly PaymentWrite[]): Promise<boolean> => {
    gate.pass();
    return commit(writes);
  };
  const gates = {
    intake: new Intake({ ...context, ledger: parts.observed }),
    amounts: new AmountChecks(context),
  };
  const pricing = routing?.pricing ?? null;
  const { secretOverlapMs } = options.webhooks;
  return {
    quotes: new Quotes({ ...context, ...gates, commit: commitQuote, pricing, swapper }),
    taking: takingOf(parts, gates),
    webhooks: { ...context, sealing, delivery, commit, secretOverlapMs, rules },
    deliveries: { storage, clock, engine, workflow: deliveries },
  };
}

function takingOf(parts: ServiceParts, gates: Gates): TransactionTaking {
  const { options, context, transfers, swapper } = parts;
  const signed = new SignedTransactions({
    ...context,
    commit: commitWhenCompared(parts),
    startTransfer: (transaction, reservations) =>
      startTransfer(transfers, transaction, {
        broadcastDelayMs: options.broadcastDelayMs,
        reservations,
      }),
  });
  const swaps = new SwapAcceptance({ ...context, swapper, signed });
  return new TransactionTaking({
    ...context,
    ...gates,
    acceptTransfer: acceptTransfer(context, signed),
    acceptSwap: (request) => swaps.accept(request),
    acceptOrder: orderAcceptance(parts),
  });
}

/** Accepts orders; the host's journal, if any, records an order before anybody knows its address. */
function orderAcceptance(parts: ServiceParts): Accept<CreatedOrderBody> | null {
  const { options, context, swapper, routing } = parts;
  if (routing === null) return null;
  const orders = new OrderAcceptance({
    ...context,
    routing,
    swapper,
    commit: commitWhenCompared(parts),
  });
  const accept: Accept<CreatedOrderBody> = (request) => orders.accept(request);
  const { recovery: journal } = options;
  const masterVersion = routing.keys.newestVersion;
  return journal === undefined ? accept : journaled(accept, { journal, masterVersion, clock: context.clock });
}

/** Commits new work only after the chain was compared, even when a provider has asked nothing of our ledger. */
function commitWhenCompared({ gate, engine }: ServiceParts): Engine<PaymentTables>["commit"] {
  return async (companions) => {
    gate.pass();
    return engine.commit(companions);
  };
}
