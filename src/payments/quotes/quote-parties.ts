/**
 * Checks the parties of a quote as POST /v1/transactions will, so that a fault is told before anybody signs; what may still
 * change by then is a warning.
 */
import type { z } from "zod";
import type { Address } from "../../address.ts";
import { fieldError, PaymentError, routingOff } from "../../errors.ts";
import type { Immutable } from "../../immutable.ts";
import { LedgerUnavailable, type TokenAccountState } from "../../ledger/ledger.ts";
import { shortageOf } from "../assets/amount-errors.ts";
import { ledgerMint, type Token } from "../assets/assets.ts";
import { checkOrderParties, refuseLessThanRent, refuseUnderRent } from "../recipients/order-parties.ts";
import { checkPayees, checkWallet, screenParties, type PayeeTransfer } from "../recipients/recipients.ts";
import type { ServiceContext } from "../service-context.ts";
import type { PricedQuote, QuoteInput } from "./priced-quote.ts";
import type { PrivatePricing } from "./private-pricing.ts";
import type { quoteWarning } from "./quote-schema.ts";

type QuoteWarning = Immutable<z.output<typeof quoteWarning>>;

interface PartyCheckParts extends Pick<ServiceContext, "storage" | "ledger" | "assets"> {
  /** Null while private mode is off. */
  readonly pricing: Pick<PrivatePricing, "terms"> | null;
  /** Sponsor, treasury and desk. */
  readonly ownAddresses: readonly Address[];
}

/** The number of addresses that a quote asks about. Throws where private mode does not take so many, or is off. */
export function countParties(
  { pricing }: Pick<PartyCheckParts, "pricing">,
  { mode, sender, recipients }: QuoteInput,
): number {
  const count = recipients?.length ?? 0;
  if (mode === "private") {
    if (pricing === null) throw routingOff();
    const { mostRecipients } = pricing.terms;
    if (count > mostRecipients) throw fieldError("recipients", `at most ${mostRecipients} recipients`);
  }
  return sender === null ? count : count + 1;
}

/**
 * Throws what POST /v1/transactions would refuse of sender and recipients, as the chain tells, and in private mode as the
 * host's screening tells. Returns the warnings.
 */
export async function checkParties(
  parts: PartyCheckParts,
  inputs: QuoteInput,
): Promise<readonly QuoteWarning[]> {
  if (inputs.mode === "wallet") return checkWalletParties(parts, inputs).catch(unchecked);
  const warnings = await checkPrivateParties(parts, inputs).catch(unchecked);
  await screenParties(parts.pricing?.terms.screen ?? null, inputs.sender, receiversOf(inputs));
  return warnings;
}

async function checkPrivateParties(
  parts: PartyCheckParts,
  inputs: QuoteInput,
): Promise<readonly QuoteWarning[]> {
  const { sender, senderAllowOffCurve: allowOffCurve } = inputs;
  const refunded = sender === null ? null : { recipient: sender, allowOffCurve };
  const asset = parts.assets.named(inputs.outputMint);
  await checkOrderParties(parts, { sender: refunded, transfers: transfersOf(inputs), asset });
  return accountWarnings(await parts.ledger.tokenAccountStates(accountsOf(asset, receiversOf(inputs))));
}

async function checkWalletParties(
  parts: PartyCheckParts,
  inputs: QuoteInput,
): Promise<readonly QuoteWarning[]> {
  const { ledger, assets } = parts;
  const { sender, inputMint, outputMint } = inputs;
  if (sender !== null && !ledger.isOnCurve(sender)) {
    throw fieldError("sender", "in wallet mode the sender signs, and no private key signs for this address");
  }
  const get = assets.named(outputMint);
  const transfers = transfersOf(inputs);
  if (inputMint !== outputMint && sender !== null) await checkWallet(ledger, sender);
  await checkPayees(parts, transfers, sender);
  await refuseUnderRent(ledger, get, transfers);
  const receiving = accountsOf(get, receiversOf(inputs));
  const giving = accountsOf(assets.named(inputMint), sender === null ? [] : [sender]);
  const states: readonly TokenAccountState[] = await ledger.tokenAccountStates([...receiving, ...giving]);
  if (states.includes("frozen")) throw new PaymentError("TRANSACTION_WOULD_FAIL", { reason: "frozen" });
  if (states.includes("handed_over")) {
    throw new PaymentError("TRANSACTION_WOULD_FAIL", { reason: "program_error" });
  }
  return accountWarnings(states.slice(0, receiving.length));
}

/** At this price: throws for a private swap to SOL that its sender could not keep; warns of what a wallet's sender lacks. */
export async function checkSenderAtPrice(
  { ledger, assets }: PartyCheckParts,
  { mode, sender, senderAllowOffCurve: allowOffCurve, inputMint, outputMint }: QuoteInput,
  { inputAmount, minOutputAmount, networkFee, rent }: PricedQuote["priced"],
): Promise<readonly QuoteWarning[]> {
  const isSwap = inputMint !== outputMint;
  if (sender === null || (mode === "private" && !isSwap)) return [];
  try {
    if (mode === "private") {
      const payee = { recipient: sender, amount: minOutputAmount, allowOffCurve };
      await refuseLessThanRent(ledger, assets.named(outputMint), [payee]);
      return [];
    }
    // What a swap leaves of SOL is known when it is run.
    const least = isSwap ? 0n : await ledger.rentMinimum(0);
    const wallet = { sender, give: assets.named(inputMint), amount: inputAmount, networkFee, rent, least };
    const lacking = await shortageOf({ ledger, assets }, wallet);
    if (lacking === null) return [];
    return [{ code: "insufficient_balance", message: lacking.message, balance: lacking.details }];
  } catch (error) {
    return unchecked(error);
  }
}

/** Nothing of SOL, which needs no token account. */
function accountsOf(asset: Token, owners: readonly Address[]): readonly { owner: Address; mint: Address }[] {
  const mint = ledgerMint(asset);
  return mint === null ? [] : owners.map((owner) => ({ owner, mint }));
}

function accountWarnings(states: readonly TokenAccountState[]): readonly QuoteWarning[] {
  const recipients = states.flatMap((state, index) => (state === "absent" ? [index] : []));
  if (recipients.length === 0) return [];
  const message = "A token account has to be made, whose rent the quote includes.";
  return [{ code: "account_will_be_created", message, recipients }];
}

const UNCHECKED: QuoteWarning = {
  code: "unchecked",
  message: "The chain could not be read: what the quote names is checked when it is used.",
};

function unchecked(error: unknown): readonly QuoteWarning[] {
  if (!(error instanceof LedgerUnavailable)) throw error;
  return [UNCHECKED];
}

function transfersOf({ recipients }: QuoteInput): readonly PayeeTransfer[] {
  return (recipients ?? []).map(({ address: recipient, ...share }) => ({ recipient, ...share }));
}

/** The recipients, or the sender of a swap. */
function receiversOf({ sender, recipients, inputMint, outputMint }: QuoteInput): readonly Address[] {
  if (inputMint !== outputMint) return sender === null ? [] : [sender];
  return (recipients ?? []).map(({ address }) => address);
}
