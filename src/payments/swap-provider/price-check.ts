/** Whether an exchange may still be signed for: a price that has moved against the provider since is not signed. */
import type { PaymentRecord } from "../records.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { Assets } from "../assets/assets.ts";
import type { Exchanger, OfferedExchange } from "./swap-provider.ts";

/** Asked right before a payment of the service's own is signed. True for everything that is no exchange. */
export type PriceCheck = (
  payment: Pick<PaymentRecord, "kind" | "transactionId" | "mint" | "legs">,
) => Promise<boolean>;

/** Asks the provider. Rejects when it cannot be asked, which is no reason to sign. */
export async function isStillGood(
  exchanger: Pick<Exchanger, "isStillGood">,
  offered: OfferedExchange,
): Promise<boolean> {
  return (await exchanger.isStillGood?.(offered)) ?? true;
}

/** The check of planned exchanges, which are at the price of the moment they were planned in. */
export function priceCheck({
  storage,
  assets,
  exchanger,
}: {
  readonly storage: Pick<PaymentStorage, "transaction" | "quote">;
  readonly assets: Assets;
  /** Null while no provider is configured. */
  readonly exchanger: Exchanger | null;
}): PriceCheck {
  return async ({ kind, transactionId, mint, legs }) => {
    if (kind !== "exchange" || exchanger === null) return true;
    const view = await storage.transaction(transactionId);
    const quote = view === null ? null : await storage.quote(view.transaction.quoteId);
    const [leg] = legs;
    if (quote === null || leg === undefined) throw new Error(`swap ${transactionId} is not stored`);
    const { inputMint, inputAmount, networkFee, routingFee, rent } = quote;
    return isStillGood(exchanger, {
      give: assets.named(inputMint),
      get: assets.named(mint),
      inputAmount: inputAmount - networkFee - routingFee - rent,
      outputAmount: leg.amount,
    });
  };
}
