/** A priced quote of any kind, and the swap that it keeps until its sender has signed. */
import type { Address } from "../../../core/address.ts";
import type { QuoteRecord } from "../tables/orders.ts";
import type { FrameWrite } from "../frame-storage.ts";
import { readJson, writeJson } from "../json-with-amounts.ts";
import type { ReservationName } from "../purses/reserve.ts";
import type { BuiltSwap } from "../exchange/swap-provider.ts";

/** Inputs of a price: everything that a refresh keeps. */
export type QuoteInput = Pick<
  QuoteRecord,
  | "id"
  | "mode"
  | "accountId"
  | "inputMint"
  | "outputMint"
  | "sender"
  | "senderAllowOffCurve"
  | "recipients"
  | "slippageBps"
  | "transactionVersion"
  | "createdAt"
> & {
  /** The requested amount: in swaps base units of the given asset, otherwise of the asset that recipients receive. */
  readonly amount: bigint;
  /** The version of the quote that this price will be, and when that version ends. */
  readonly version: number;
  readonly expiresAt: number;
  /** The swap of the version before, null when there is none. */
  readonly swap: string | null;
};

/** A price, and in wallet mode the transaction to sign. */
export interface PricedQuote {
  readonly priced: Pick<
    QuoteRecord,
    | "inputAmount"
    | "outputAmount"
    | "minOutputAmount"
    | "networkFee"
    | "routingFee"
    | "rent"
    | "pricedAccounts"
    | "swap"
  >;
  /** The price impact in percent. */
  readonly priceImpact: number;
  /** The unsigned transaction in base64, null where there is not enough to build one. */
  readonly transaction: string | null;
  /** Writes for the commit of the quote. */
  readonly writes: readonly FrameWrite[];
}

/** The swap of the newest version of a quote, and its reservations. */
export interface QuotedSwap extends BuiltSwap {
  /** Reservations; empty for a quote that was refreshed for too long. */
  readonly reservations: readonly ReservationName[];
}

interface Stored extends Omit<QuotedSwap, "unsigned"> {
  readonly unsigned: Omit<QuotedSwap["unsigned"], "message"> & {
    /** Base64. */ readonly message: string;
  };
}

/** Before words of a provider's own, which otherwise could look like an amount. */
const TICKET = "ticket ";

/** The swap as JSON text, with the message in base64. */
export function writeSwap(swap: QuotedSwap): string {
  const message = Buffer.from(swap.unsigned.message).toString("base64");
  const ticket = swap.ticket === null ? null : TICKET + swap.ticket;
  return writeJson({ ...swap, unsigned: { ...swap.unsigned, message }, ticket } satisfies Stored);
}

/** The swap of a quote, null when it has none. */
export function readSwap({ swap }: Pick<QuoteRecord, "swap">): QuotedSwap | null {
  if (swap === null) return null;
  const { unsigned, ticket, ...stored } = readJson(swap) as Stored;
  const message = Uint8Array.from(Buffer.from(unsigned.message, "base64"));
  return { ...stored, unsigned: { ...unsigned, message }, ticket: ticket?.slice(TICKET.length) ?? null };
}

/** The cost of a quote, in base units of its fee's asset. */
export type QuoteFees = Pick<QuoteRecord, "networkFee" | "routingFee" | "rent" | "pricedAccounts">;

/** The addresses that are paid, in their order; null while they are open. */
export function payeesOf({ recipients }: Pick<QuoteInput, "recipients">): readonly Address[] | null {
  return recipients?.map(({ address }) => address) ?? null;
}

/** The price of an asset that is moved as it is. */
export function priceOfTransfer(
  amount: bigint,
  inputAmount: bigint,
  { networkFee, routingFee, rent, pricedAccounts }: QuoteFees,
): Omit<PricedQuote, "transaction"> {
  const fees = { networkFee, routingFee, rent, pricedAccounts };
  return {
    priced: { ...fees, inputAmount, outputAmount: amount, minOutputAmount: amount, swap: null },
    priceImpact: 0,
    writes: [],
  };
}
