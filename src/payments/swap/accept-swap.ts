/** Taking a wallet's swap: the quoted transaction, signed, that the chain would carry out and the provider stands behind. */
import { createHash } from "node:crypto";
import bs58 from "bs58";
import type { QuoteRecord } from "../frame/tables/orders.ts";
import type { FrameWrite } from "../frame/frame-storage.ts";
import { agingTime } from "../../core/clock-trust.ts";
import { isPaymentError, PaymentError } from "../../errors/errors.ts";
import type { SignatureFault, Ledger } from "../../ledger/ledger.ts";
import type { Decision } from "../frame/accounts/answer-once.ts";
import type { CheckedRequest } from "../frame/quotes/checked-request.ts";
import { readSwap, type QuotedSwap } from "../frame/quotes/priced-quote.ts";
import { checkWallet } from "../frame/recipients/recipients.ts";
import { type ServiceContext, storageTime } from "../frame/service-context.ts";
import { offerOf, unasked, isStillGood } from "../frame/exchange/price-check.ts";
import { keepReserved, promisesAt, releaseReserved, reserve } from "../frame/purses/reserve.ts";
import type { Swapper, OfferedSwap, SenderSignedSwap, BuiltSwap } from "../frame/exchange/swap-provider.ts";
import {
  acceptSigned,
  refuseKnown,
  type CreatedTransferBody,
  type SignedTransactionParts,
  plannedReference,
  type VerifiedBytes,
} from "../frame/signed/accept-signed.ts";
import type { Address } from "../../core/address.ts";
import { isSignedBy } from "../../core/ed25519.ts";
import { isBlank, joinTransaction, readTransactionText, splitTransaction } from "../../ledger/wire-format.ts";
import type { FaultError, OrderFault } from "../../ledger/order-fault.ts";
import type { Move, MoveOf } from "../../ledger/routing.ts";
import type { Assets, Token } from "../frame/assets/assets.ts";
import { shortageOf } from "../frame/assets/amount-errors.ts";

interface SwapAcceptanceParts extends SignedTransactionParts, Pick<ServiceContext, "ledger"> {
  readonly swapper: Swapper;
}

/** Throws what the quote, the chain or the provider has against it, in the order that the API promises. */
export async function acceptSwap(
  parts: SwapAcceptanceParts,
  request: CheckedRequest,
): Promise<Decision<CreatedTransferBody>> {
  const { storage, ledger, assets } = parts;
  const { quote, declared } = request;
  const quoted = quotedSwap(quote);
  const swap = readSigned(request, quoted);
  await refuseKnown(storage, swap.verified, declared.accountId);
  await checkWallet(ledger, declared.sender);
  await request.checkAmounts();
  await refuseMovedPrice(parts, quote);
  const give = assets.named(quote.inputMint);
  const refusal = await swapRefusal(ledger, assets, { ...swap, give, inputAmount: quote.inputAmount });
  // Another request may have taken and sent these bytes since they were looked up.
  if (isPaymentError(refusal, "DUPLICATE_TRANSACTION")) {
    await refuseKnown(storage, swap.verified, declared.accountId);
  }
  if (refusal !== null) throw refusal;
  const window = await ledger.landingWindow(swap.verified.blockhash);
  if (window === null) throw new PaymentError("INVALID_SIGNATURE", { reason: "blockhash_expired" });
  const kept = await keep(parts, quote, quoted);
  const reference = plannedReference(swap.plan);
  return acceptSigned(parts, request, { verified: { ...swap.verified, ...window }, reference, ...kept });
}

/** A quote's price has moved too far against the provider: it would not sign any more. */
async function refuseMovedPrice(parts: SwapAcceptanceParts, quote: QuoteRecord): Promise<void> {
  const { swapper } = parts;
  if (!(await isStillGood(swapper, offeredSwap(parts, quote)).catch(unasked))) throw priceMoved(quote);
}

/**
 * Keeps the quote's reservations. A quote without reservations promised nothing: the price must still be available.
 */
async function keep(
  parts: SwapAcceptanceParts,
  quote: QuoteRecord,
  { reservations }: QuotedSwap,
): Promise<{ readonly reservations: readonly string[]; readonly writes: readonly FrameWrite[] }> {
  const { storage, clock, swapper } = parts;
  const previous = reservations.map(({ id }) => id);
  const kept = await keepReserved(storage, reservations);
  if (kept !== null) return { reservations: previous, writes: kept };
  if (swapper.isFirm === true) return { reservations: [], writes: [] };
  const now = await storageTime(parts);
  const promises = promisesAt(storage, agingTime(clock, now), previous);
  const { give, get, inputAmount: amount, outputAmount } = offeredSwap(parts, quote);
  const wanted = { give, get, amount, accountId: quote.accountId };
  const offer = await offerOf(swapper, wanted, promises.promised);
  if (offer.outputAmount < outputAmount) throw priceMoved(quote);
  const owner = `${quote.id}:${quote.version}:used`;
  const { names, writes } = reserve(owner, offer.reservations, { createdAt: now, lapsesAt: null });
  return {
    reservations: names.map(({ id }) => id),
    writes: [...releaseReserved(previous, now), ...promises.releaseLapsed(), ...writes],
  };
}

function offeredSwap(
  parts: SwapAcceptanceParts,
  { inputMint, outputMint, inputAmount, outputAmount }: QuoteRecord,
): OfferedSwap {
  const { assets } = parts;
  return { give: assets.named(inputMint), get: assets.named(outputMint), inputAmount, outputAmount };
}

function quotedSwap(quote: QuoteRecord): QuotedSwap {
  const swap = readSwap(quote);
  if (swap === null) throw new Error(`quote ${quote.id} has no transaction to sign`);
  return swap;
}

/** Asks no node. Throws `INVALID_SIGNATURE`. */
function readSigned(
  { signedTransaction, declared }: CheckedRequest,
  swap: QuotedSwap,
): SenderSignedSwap & { readonly verified: VerifiedBytes } {
  const read = readSignedSwap(signedTransaction, swap, declared.sender);
  if ("refused" in read) throw new PaymentError("INVALID_SIGNATURE", { reason: read.refused });
  const { signed } = read;
  const { message, blockhash, lastValidBlockHeight, firstSlot } = swap.unsigned;
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
}

function priceMoved({ id: quoteId }: QuoteRecord): PaymentError {
  return new PaymentError("INVALID_QUOTE", { quoteId, reason: "price_moved" });
}

/**
 * The message must equal the quoted message byte for byte, so that no part has to be understood; the sender's signature
 * is verified over it. Signatures of other signers are not kept: they have yet to be made.
 */
function readSignedSwap(
  putativeTransaction: string,
  built: BuiltSwap,
  sender: Address,
): { readonly signed: SenderSignedSwap } | { readonly refused: SignatureFault } {
  const read = readTransactionText(putativeTransaction);
  if ("refused" in read) return read;
  const transaction = splitTransaction(read.bytes);
  if (transaction === null) return { refused: "undecodable" };
  const { message, signers } = built.unsigned;
  const isQuoted =
    transaction.signatures.length === signers.length && Buffer.from(transaction.message).equals(message);
  if (!isQuoted) return { refused: "content_mismatch" };
  // The sender pays the fee, so its signature is the first, and the transaction's identity.
  const [signature] = transaction.signatures;
  if (signature === undefined || isBlank(signature)) return { refused: "missing_signature" };
  if (!isSignedBy(bs58.decode(sender), message, signature)) return { refused: "bad_signature" };
  const missing = signers.slice(1).map(() => null);
  return {
    signed: { ...built, sender, signature, bytes: joinTransaction(message, [signature, ...missing]) },
  };
}

interface SwapCosts extends BuiltSwap {
  readonly sender: Address;
  readonly give: Token;
  readonly inputAmount: bigint;
}

/**
 * Looks at what the sender has, then runs the message without signatures. Null when the chain would take it. Both at
 * confirmed.
 */
async function swapRefusal(ledger: Ledger, assets: Assets, swap: SwapCosts): Promise<PaymentError | null> {
  const { plan, unsigned, sender, give, inputAmount, rent } = swap;
  const wallet = { sender, give, amount: inputAmount, networkFee: unsigned.networkFee, rent, least: 0n };
  const lacking = await shortageOf({ ledger, assets }, wallet);
  if (lacking !== null) return lacking;
  const fault = await ledger.tryOrder(plan ?? { feePayer: sender, moves: [] }, unsigned);
  if (fault === null) return null;
  if (fault.error === "blockhash") {
    return new PaymentError("INVALID_SIGNATURE", { reason: "blockhash_expired" });
  }
  if (fault.error === "already_processed") return new PaymentError("DUPLICATE_TRANSACTION", {});
  const leg = plan?.moves[fault.at?.move ?? -1];
  if (hasTooFewLamports(sender, fault, leg)) {
    // It could pay, and would be left with less than an account must hold.
    const least = await ledger.rentMinimum(0);
    return (await shortageOf({ ledger, assets }, { ...wallet, least })) ?? wouldFail("program_error", fault);
  }
  const atFault = leg?.does === "transfer" ? await unfitEnd(ledger, leg, fault) : null;
  if (atFault === null) return wouldFail("program_error", fault);
  // The desk has been emptied, or its account frozen, by another party than this service.
  if (atFault !== sender) return new PaymentError("INSUFFICIENT_LIQUIDITY", { available: "0" });
  return wouldFail("frozen", fault);
}

function wouldFail(reason: "program_error" | "frozen", { text }: OrderFault): PaymentError {
  return new PaymentError("TRANSACTION_WOULD_FAIL", { reason, logs: [text] });
}

/** The answers of the System and the Token program for too small a balance. */
const TOO_LITTLE = 1;
const OWNER_MISMATCH = 4;
const FROZEN = 17;

/** The sender pays the network and for its own new account; every other payment of the sender has been examined. */
function hasTooFewLamports(
  sender: Address,
  { at, account, error }: OrderFault,
  leg: Move | undefined,
): boolean {
  if (account !== null) return account === sender;
  if (at === null || !isCustom(error, TOO_LITTLE)) return false;
  return at.step === "create" || (leg?.does === "transfer" && leg.mint === null && leg.from === sender);
}

/** The owner at whose end of this leg it fails; null where the error tells neither. */
async function unfitEnd(
  ledger: Pick<Ledger, "tokenAccountStates">,
  { from, to, mint }: MoveOf<"transfer">,
  { at, error }: OrderFault,
): Promise<Address | null> {
  if (at?.step === "create" || error === "readonly_lamports") return to;
  if (isCustom(error, TOO_LITTLE) || isCustom(error, OWNER_MISMATCH)) return from;
  if (mint === null || (error !== "missing_account" && !isCustom(error, FROZEN))) return null;
  // The Token program has one error for both ends.
  const [paying] = await ledger.tokenAccountStates([{ owner: from, mint }]);
  return paying === "usable" ? to : from;
}

function isCustom(error: FaultError, code: number): boolean {
  return typeof error === "object" && error.custom === code;
}
