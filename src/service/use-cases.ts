/** The use cases of a service, each made once over its parts. */
import type { PaymentWrite } from "../payments/payment-storage.ts";
import type { TransactionRecord } from "../payments/frame/tables/orders.ts";
import { AmountLimitCheck } from "../payments/frame/intake/amounts.ts";
import { IntakeCheck } from "../payments/frame/intake/intake-check.ts";
import { QuoteService } from "../payments/frame/quotes/quotes.ts";
import { TransactionAcceptance } from "../payments/frame/transactions/create-transaction.ts";
import { signedMode } from "../payments/wallet/signed-mode.ts";
import { WAY_MODULES, type CreatedTransactionBody } from "../payments/modules.ts";
import type { PaymentWay } from "../payments/frame/open-module.ts";
import type { TransactionMode } from "../payments/frame/transactions/transaction-mode.ts";
import { startTransfer } from "../payments/wallet/wallet-transfer-workflow.ts";
import { commitWhenCompared, type ServiceParts } from "./service-parts.ts";

type Modes = readonly TransactionMode<CreatedTransactionBody>[];

/** Use cases for callers. */
export interface UseCaseParts {
  readonly quotes: QuoteService;
  readonly taking: TransactionAcceptance<CreatedTransactionBody>;
  readonly modes: Modes;
}

export function useCasesOf(parts: ServiceParts): UseCaseParts {
  const { context, gate, engine } = parts;
  const commitQuote = async (writes: readonly PaymentWrite[]): Promise<boolean> => {
    gate.pass();
    return (await engine.commit({ writes })).ok;
  };
  const gates = {
    intake: new IntakeCheck({ ...context, ledger: parts.observed }),
    amounts: new AmountLimitCheck(context),
  };
  const ways = waysOf(parts);
  const modes = modesOf(parts);
  return {
    quotes: new QuoteService({ ...context, ...gates, commit: commitQuote, ways }),
    taking: new TransactionAcceptance({ ...context, ...gates, ways, modes }),
    modes,
  };
}

/** How transactions of each mode are shown and cancelled, whatever is on. */
function modesOf({ context, engine, transfers, modules }: ServiceParts): Modes {
  const { assets } = context;
  return [signedMode({ assets, engine, transfers }), ...modules.flatMap((module) => module.modes ?? [])];
}

/** The ways to pay that are on. */
function waysOf({
  options,
  context,
  gate,
  engine,
  transfers,
  swapper,
  modules,
}: ServiceParts): readonly PaymentWay<CreatedTransactionBody>[] {
  const { broadcastDelayMs } = options;
  const deps = {
    ...context,
    swapper,
    commit: commitWhenCompared({ gate, engine: () => engine }),
    startTransfer: (transaction: TransactionRecord, reservations: readonly string[]) =>
      startTransfer(transfers, transaction, { broadcastDelayMs, reservations }),
  };
  const ways = WAY_MODULES.flatMap((module) => module.ways?.(deps) ?? []);
  return [...ways, ...modules.flatMap((module) => module.ways ?? [])];
}
