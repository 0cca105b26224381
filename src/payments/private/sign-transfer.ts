/** Signs a transfer: looks, chooses what is signed now, has it run, and stores the bytes before the first one leaves. */
import { signTransaction, type Signer } from "../../ledger/sign-transaction.ts";
import type { DepositKeys } from "../frame/secrets/deposit-keys.ts";
import { releaseReserved } from "../frame/purses/reserve.ts";
import { spend, sponsorPurse } from "../frame/spending.ts";
import { shareLeft } from "../frame/purses/sponsor-limit.ts";
import type { SwapPricingDeps } from "./price-order-swap.ts";
import type { AttemptRecord } from "../frame/tables/attempts.ts";
import { lastHeightOf } from "./attempt-death.ts";
import { buildWithBid, type BiddingDeps, type BuiltTransaction } from "./bids.ts";
import { barred } from "./barred-transfer.ts";
import { chooseTransfer } from "./choose-transfer.ts";
import { planOf, type ChosenTransfer } from "./chosen-transfer.ts";
import { landedBefore } from "./conclude-transfer.ts";
import { judgeFault } from "./judge-fault.ts";
import { listHistory } from "./list-history.ts";
import type { LookParts } from "./look.ts";
import { outlayOf } from "./protocol/cost.ts";
import type { GateDeps } from "./screening-gate.ts";
import { isPurseFull } from "./full-purse.ts";
import { settledOnChain } from "./settled-on-chain.ts";
import { aliveAmong, takeInHand, type TransferInHand } from "./transfer-in-hand.ts";
import { changed, orderChanged, orderUnchanged, putOff, type TransferOutcome } from "./transfer-outcomes.ts";

export interface SigningDeps
  extends SwapPricingDeps, GateDeps, LookParts, Pick<BiddingDeps, "mostRaisedPerDay"> {
  readonly keys: DepositKeys;
  readonly sponsor: Signer;
}

/** The effect `sign`. Rejects, and comes back by itself, while the chain or a part of the host cannot be asked. */
export async function signTransfer(deps: SigningDeps, id: string): Promise<TransferOutcome> {
  const inHand = await takeInHand(deps, id, "planned.signing");
  if (inHand === null) return {};
  return { ...(await sign(deps, inHand)), expectedVersion: inHand.version };
}

async function sign(deps: SigningDeps, inHand: TransferInHand): Promise<TransferOutcome> {
  const { ledger, sponsor } = deps;
  // Only the sponsor of today can sign; the former one's bytes stay good.
  if (inHand.look.terms.sponsor !== sponsor.address) return ofToday(deps, inHand);
  const instead =
    (await landedBefore({ ...deps, sponsor: sponsor.address }, inHand)) ??
    (await settledOnChain(deps, inHand)) ??
    (await barred(deps, inHand));
  if (instead !== null) return instead;
  const choice = await chooseTransfer(deps, inHand);
  if ("instead" in choice) return choice.instead;
  const { chosen } = choice;
  if (!isPurseFull(inHand, chosen)) return putOff("low_purse", PURSE_PAUSE_MS);
  // Bytes live for a minute: what would wait for its first send is not signed yet.
  if (!(await ledger.takeSendPlace("first"))) return putOff("no_send_place", null);
  const plan = planOf(inHand.look.terms, chosen.legs);
  const { unsigned, count } = await buildWithBid({ ...deps, sponsor: sponsor.address }, inHand, plan);
  const fault = await ledger.tryOrder(plan, unsigned);
  if (fault !== null) return judgeFault(deps, inHand, { chosen, fault });
  return storeAttempt(deps, inHand, { chosen, unsigned, count });
}

/**
 * The sponsor who took the order may have been replaced since: late money comes after years. Whether the loan went back to
 * him is listed before, while it is known who he was.
 */
async function ofToday(deps: SigningDeps, { look }: TransferInHand): Promise<TransferOutcome> {
  const { writes, set, isWhole } = await listHistory(deps, look);
  const sponsor = isWhole ? deps.sponsor.address : look.terms.sponsor;
  return { ...putOff("read_again", null), writes: [orderChanged(look, { ...set, sponsor }), ...writes] };
}

const PURSE_PAUSE_MS = 60_000;

interface ReadyToSign extends BuiltTransaction {
  readonly chosen: ChosenTransfer;
}

async function storeAttempt(
  deps: SigningDeps,
  inHand: TransferInHand,
  { chosen, unsigned, count }: ReadyToSign,
): Promise<TransferOutcome> {
  const { ledger, clock, keys, sponsor } = deps;
  const { row, look } = inHand;
  const { order } = look.view;
  const signer = keys.signer({ masterVersion: order.masterVersion, transactionId: order.id });
  if (signer.address !== order.address) throw new Error(`the key of ${order.address} cannot be derived`);
  const signed = await signTransaction(unsigned, [sponsor, signer, ...chosen.cosigners]);
  const { signature, messageHash, bytes, blockhash, firstSlot } = signed;
  const attempt: AttemptRecord = {
    id: signature,
    messageHash,
    transactionId: order.id,
    transfer: row.id,
    bytes,
    blockhash,
    lastValidBlockHeight: lastHeightOf(signed, await ledger.heights("confirmed")),
    firstSlot,
    reference: null,
    createdAt: clock.now(),
    takenAt: null,
    legs: chosen.booked,
    bid: unsigned.priorityFee,
    error: null,
  };
  const rates = { rentPerByte: look.reading.rentPerByte, fee: unsigned.networkFee };
  // The loan comes back.
  const spent = chosen.legs.filter(({ role }) => role !== "loan");
  const amount = outlayOf(spent, sponsor.address, rates);
  const isKept = chosen.reserved.length === 0 && mayPay(inHand);
  return {
    event: { type: "SIGNED", signature },
    writes: [
      // A hold, an act or a marker that was stored since the look refuses it.
      row.kind === "chunk" ? orderUnchanged(look) : orderChanged(look),
      { table: "attempts", insert: attempt },
      ...spend({ signature, purse: sponsorPurse(sponsor.address), amount }, attempt.createdAt),
      ...count(signature),
      // It is screened, and goes on by itself: until then it takes up room of its account's alone.
      ...(await shareLeft(deps.storage, order.id, attempt.createdAt)),
      ...releaseReserved(isKept ? [] : row.reserved, attempt.createdAt),
      ...chosen.writes(signature),
      changed(row, { reserved: isKept ? row.reserved : chosen.reserved }),
    ],
  };
}

/** Whether bytes from before may land that pay somebody: of a swap its desk. */
function mayPay({ attempts, height }: TransferInHand): boolean {
  return aliveAmong(attempts, height).some(({ legs }) => legs !== null && legs.length > 0);
}
