/**
 * Checks the parties of a quote as POST /v1/transactions checks them. A caller learns of a fault before anybody signs; a fact
 * that may still change is a warning.
 */
import type { z } from "zod";
import type { Address } from "../../../core/address.ts";
import { fieldError, PaymentError } from "../../../errors/errors.ts";
import type { Immutable } from "../../../core/immutable.ts";
import { LedgerUnavailable, type TokenAccountState } from "../../../ledger/ledger.ts";
import { fundsOf, shortageIn } from "../assets/amount-errors.ts";
import { ledgerMint, type Token } from "../assets/assets.ts";
import { refuseUnderRent } from "../recipients/rent-checks.ts";
import { checkPayees, checkWallet, type PayeeTransfer } from "../recipients/recipients.ts";
import type { ServiceContext } from "../service-context.ts";
import type { PricedQuote, QuoteInput } from "./priced-quote.ts";
import type { quoteWarning } from "./quote-schema.ts";

export type QuoteWarning = Immutable<z.output<typeof quoteWarning>>;

type PartyDeps = Pick<ServiceContext, "ledger" | "assets">;

/** The number of addresses that a quote asks about. */
export function countParties({ sender, recipients }: QuoteInput): number {
  return (recipients?.length ?? 0) + (sender === null ? 0 : 1);
}

/** For a transaction that its sender signs: throws what is wrong with sender and recipients, and answers the warnings. */
export async function checkSigningParties(
  deps: PartyDeps,
  inputs: QuoteInput,
): Promise<readonly QuoteWarning[]> {
  return checkSigning(deps, inputs).catch(unchecked);
}

async function checkSigning(deps: PartyDeps, inputs: QuoteInput): Promise<readonly QuoteWarning[]> {
  const { ledger, assets } = deps;
  const { sender, inputMint, outputMint } = inputs;
  if (sender !== null && !ledger.isOnCurve(sender)) {
    throw fieldError("sender", "in wallet mode the sender signs, and no private key signs for this address");
  }
  const get = assets.named(outputMint);
  const transfers = transfersOf(inputs);
  const receiving = accountsOf(get, receiversOf(inputs));
  const giving = accountsOf(assets.named(inputMint), sender === null ? [] : [sender]);
  const read = ledger.tokenAccountStates([...receiving, ...giving]);
  await allPass([
    ...(inputMint !== outputMint && sender !== null ? [checkWallet(ledger, sender)] : []),
    checkPayees(deps, transfers, sender),
    refuseUnderRent(ledger, get, transfers),
    read,
  ]);
  const states: readonly TokenAccountState[] = await read;
  if (states.includes("frozen")) throw new PaymentError("TRANSACTION_WOULD_FAIL", { reason: "frozen" });
  if (states.includes("handed_over")) {
    throw new PaymentError("TRANSACTION_WOULD_FAIL", { reason: "program_error" });
  }
  return accountWarnings(states.slice(0, receiving.length));
}

/**
 * Waits for checks that ask at one moment, so that a node reads the accounts of all in one call. Throws the first fault in
 * this order.
 */
export async function allPass(checks: readonly Promise<unknown>[]): Promise<void> {
  for (const check of await Promise.allSettled(checks)) if (check.status === "rejected") throw check.reason;
}

/** The price of what its sender signs, which is being made, and the lamports that its wallet keeps at least. */
interface SignedPrice {
  readonly price: Promise<Pick<PricedQuote["priced"], "inputAmount" | "networkFee" | "rent">>;
  readonly least: () => Promise<bigint>;
}

/**
 * For a transaction that its sender signs: warns of funds that its wallet lacks at this price. The wallet is read at once,
 * beside those of the other parties.
 */
export async function warnOfShortage(
  { ledger, assets }: PartyDeps,
  { sender, inputMint }: QuoteInput,
  { price, least }: SignedPrice,
): Promise<readonly QuoteWarning[]> {
  if (sender === null) return [];
  try {
    const give = assets.named(inputMint);
    const [held, priced] = await Promise.all([fundsOf(ledger, { sender, give }), price]);
    const { inputAmount: amount, networkFee, rent } = priced;
    const wallet = { sender, give, amount, networkFee, rent, least: await least() };
    const lacking = shortageIn(held, assets, wallet);
    if (lacking === null) return [];
    return [{ code: "insufficient_balance", message: lacking.message, balance: lacking.details }];
  } catch (error) {
    return unchecked(error);
  }
}

/** Nothing of SOL, which needs no token account. */
export function accountsOf(
  asset: Token,
  owners: readonly Address[],
): readonly { owner: Address; mint: Address }[] {
  const mint = ledgerMint(asset);
  return mint === null ? [] : owners.map((owner) => ({ owner, mint }));
}

/** The warning about token accounts that are to be made. */
export function accountWarnings(states: readonly TokenAccountState[]): readonly QuoteWarning[] {
  const recipients = states.flatMap((state, index) => (state === "absent" ? [index] : []));
  if (recipients.length === 0) return [];
  const message = "A token account has to be made, whose rent the quote includes.";
  return [{ code: "account_will_be_created", message, recipients }];
}

const UNCHECKED: QuoteWarning = {
  code: "unchecked",
  message: "The chain could not be read: what the quote names is checked when it is used.",
};

/** A warning in place of a check that the chain did not answer. */
export function unchecked(error: unknown): readonly QuoteWarning[] {
  if (!(error instanceof LedgerUnavailable)) throw error;
  return [UNCHECKED];
}

export function transfersOf({ recipients }: QuoteInput): readonly PayeeTransfer[] {
  return (recipients ?? []).map(({ address: recipient, ...share }) => ({ recipient, ...share }));
}

/** The recipients, or the sender of a swap. */
export function receiversOf({ sender, recipients, inputMint, outputMint }: QuoteInput): readonly Address[] {
  if (inputMint !== outputMint) return sender === null ? [] : [sender];
  return (recipients ?? []).map(({ address }) => address);
}
