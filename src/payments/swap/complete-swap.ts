/** Having the provider sign a wallet's swap, or land it, once "broadcast started" is committed and never before. */
import { commitOne } from "../../../storage/decided.ts";
import type { AttemptRecord } from "../frame/tables/attempts.ts";
import type { FrameStorage, FrameWrite } from "../frame/frame-storage.ts";
import { isWhole, splitTransaction } from "../../ledger/wire-format.ts";
import type { Assets } from "../frame/assets/assets.ts";
import { contradictionOf, type ClockParts } from "../frame/intake/chain-clock.ts";
import { deskPurse, spend } from "../frame/spending.ts";
import { isStillGood } from "../frame/exchange/price-check.ts";
import { readSwap } from "../frame/quotes/priced-quote.ts";
import type { Swapper } from "../frame/exchange/swap-provider.ts";

interface SwapCompletion extends ClockParts {
  readonly storage: FrameStorage;
  readonly assets: Assets;
  /** Null while no provider is configured. */
  readonly swapper: Swapper | null;
}

/**
 * Answers the bytes to send. Bytes of a swap get their last signature and are stored first; other bytes are sent unchanged.
 * Null when the provider sends them, or when the chain has decided without it. After a crash it signs again: the same message, which the chain takes once. Throws while the price
 * has moved too far against the provider, and while the chain contradicts the clock: it is asked again until the transaction is
 * dead, and nothing is signed before that is over.
 */
export async function completeSwap(
  parts: SwapCompletion,
  { id, transactionId, bytes, reference }: AttemptRecord,
): Promise<Uint8Array | null> {
  const { storage, clock, assets, swapper } = parts;
  // Only a market hears of whole bytes, and only of bytes that it has built: it has no reference of ours.
  const isOfMarket = swapper?.isFirm === true && reference === null;
  if (isWhole(bytes) && !isOfMarket) return bytes;
  const view = await storage.transaction(transactionId);
  if (view === null) throw new Error(`transaction ${transactionId} is not stored`);
  if (view.transaction.type !== "swap") return bytes;
  if (view.transaction.status !== "pending") return null;
  const quote = await storage.quote(view.transaction.quoteId);
  const swap = quote === null ? null : readSwap(quote);
  const [signature] = splitTransaction(bytes)?.signatures ?? [];
  if (quote === null || swap === null || signature === undefined) {
    throw new Error(`the swap of ${transactionId} is not stored`);
  }
  if (swapper === null) throw new Error(`no swap provider is configured to complete ${transactionId}`);
  const { inputMint, outputMint, inputAmount, outputAmount } = quote;
  const offered = { give: assets.named(inputMint), get: assets.named(outputMint), inputAmount, outputAmount };
  if (!(await isStillGood(swapper, offered))) {
    throw new Error(`the price of ${transactionId} has moved too far since its quote: it is not signed now`);
  }
  if ((await contradictionOf(parts)) !== null) {
    throw new Error(
      `the chain contradicts the clock by which ${transactionId} was quoted: it is not signed now`,
    );
  }
  const sender = view.transaction.sender;
  const whole = await swapper.complete({ ...swap, sender, signature, bytes });
  if (whole === null) return null;
  const given =
    swapper.direct === null
      ? []
      : spend(
          {
            signature: id,
            purse: deskPurse(swapper.direct.signer.address, outputMint),
            amount: outputAmount,
          },
          clock.now(),
        );
  const writes: FrameWrite[] = [{ table: "attempts", id, set: { bytes: whole } }, ...given];
  const stored = await commitOne(storage, { writes });
  if (!stored.ok) throw new Error(`the whole bytes of ${transactionId} could not be stored`);
  return whole;
}
