/** Taking a wallet's swap: the quoted transaction, signed, that the chain would carry out and the provider stands behind. */
import { createHash } from "node:crypto";
import bs58 from "bs58";
import type { QuoteRecord } from "../records.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { Address } from "../../address.ts";
import { PaymentError } from "../../errors.ts";
import type { Ledger, VerifiedPayment } from "../../ledger/ledger.ts";
import type { Clock } from "../../runtime.ts";
import type { Assets } from "../assets/assets.ts";
import { isoTime } from "../iso-time.ts";
import { plannedReference } from "../wallet/own-reference.ts";
import { exchangeRefusal } from "./exchange-refusal.ts";
import { offerOf, unasked } from "../quotes/price-swap.ts";
import { isStillGood } from "../swap-provider/price-check.ts";
import { readSignedExchange } from "./read-signed-exchange.ts";
import { keepReserved, promisesAt, releaseReserved, reserve } from "../swap-provider/reserve.ts";
import { readExchange } from "../quotes/stored-exchange.ts";
import type { QuotedExchange } from "../quotes/stored-exchange.ts";
import type { Exchanger, SenderSigned } from "../swap-provider/swap-provider.ts";

/** A swap with what goes into the commit that takes it. */
export interface ExaminedExchange {
  readonly verified: VerifiedPayment;
  /** The key that it is listed by besides its accounts, null for a transaction that somebody else built. */
  readonly reference: string | null;
  /** What stays set aside until it has landed or is proved dead. */
  readonly reservations: readonly string[];
  readonly writes: readonly PaymentWrite[];
}

/** A swap that its sender has signed. */
export interface SignedSwap extends SenderSigned {
  readonly verified: VerifiedPayment;
}

/** The two looks at a wallet's swap, in the contract's order of checks. */
export interface ExchangeExamination {
  /** Asks no node. Throws INVALID_SIGNATURE. */
  readonly readSigned: (signedTransaction: string, quote: QuoteRecord) => SignedSwap;
  /** Throws what the chain or the provider has against it. */
  readonly examine: (signed: SignedSwap, quote: QuoteRecord) => Promise<ExaminedExchange>;
}

function expired({ id, expiresAt }: QuoteRecord): PaymentError {
  return new PaymentError("INVALID_QUOTE", {
    ...{ quoteId: id, reason: "expired", expiresAt: isoTime(expiresAt) },
  });
}

export function createExchangeExamination({
  storage,
  ledger,
  assets,
  clock,
  exchanger,
}: {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly assets: Assets;
  readonly clock: Clock;
  readonly exchanger: Exchanger | null;
}): ExchangeExamination {
  const quoted = (quote: QuoteRecord): QuotedExchange => {
    const exchange = readExchange(quote);
    if (exchange === null) throw new Error(`quote ${quote.id} has no transaction to sign`);
    return exchange;
  };

  /** What the quote has set aside is kept. Where nothing is, it is a price without a promise: it must still be had. */
  const keep = async (
    quote: QuoteRecord,
    { reservations }: QuotedExchange,
  ): Promise<Pick<ExaminedExchange, "reservations" | "writes">> => {
    const kept = await keepReserved(storage, reservations);
    if (kept !== null) return { reservations: reservations.map(({ id }) => id), writes: kept };
    if (exchanger === null) throw new PaymentError("INSUFFICIENT_LIQUIDITY", { available: "0" });
    const now = clock.now();
    const { id, version, inputMint, outputMint, inputAmount, outputAmount, accountId } = quote;
    const wanted = { give: assets.named(inputMint), get: assets.named(outputMint), amount: inputAmount };
    const previous = reservations.map((each) => each.id);
    const promises = promisesAt(storage, now, previous);
    const offer = await offerOf(exchanger, { ...wanted, accountId }, promises.promised);
    if (offer.outputAmount < outputAmount) throw expired(quote);
    const owner = `${id}:${version}:used`;
    const { names, writes } = reserve(owner, offer.reservations, { createdAt: now, lapsesAt: null });
    return {
      reservations: names.map((each) => each.id),
      writes: [...releaseReserved(previous, now), ...promises.releaseLapsed(), ...writes],
    };
  };

  /** A quote's price has moved too far against the provider: it would not sign any more. */
  const refuseMovedPrice = async (quote: QuoteRecord): Promise<void> => {
    if (exchanger === null) return;
    const { inputMint, outputMint, inputAmount, outputAmount } = quote;
    const offered = {
      give: assets.named(inputMint),
      get: assets.named(outputMint),
      inputAmount,
      outputAmount,
    };
    if (!(await isStillGood(exchanger, offered).catch(unasked))) throw expired(quote);
  };

  return {
    readSigned(signedTransaction, quote) {
      const exchange = quoted(quote);
      const read = readSignedExchange(signedTransaction, exchange, quote.sender as Address);
      if ("refused" in read) throw new PaymentError("INVALID_SIGNATURE", { reason: read.refused });
      const { signed } = read;
      const { message, blockhash, lastValidBlockHeight, firstSlot } = exchange.unsigned;
      return {
        ...signed,
        verified: {
          bytes: signed.bytes,
          signature: bs58.encode(signed.signature),
          messageHash: createHash("sha256").update(message).digest("hex"),
          blockhash,
          lastValidBlockHeight,
          firstSlot,
        },
      };
    },
    async examine(signed, quote) {
      const give = assets.named(quote.inputMint);
      await refuseMovedPrice(quote);
      const refusal = await exchangeRefusal(ledger, assets, {
        ...signed,
        give,
        inputAmount: quote.inputAmount,
      });
      if (refusal !== null) throw refusal;
      const reference = plannedReference(signed.plan);
      return { verified: signed.verified, reference, ...(await keep(quote, quoted(quote))) };
    },
  };
}
