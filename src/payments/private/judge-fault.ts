/** Acts on the error of a transfer that was run before it is signed, by the closed table of culprits (K11). */
import type { PrivateContext } from "./private-storage.ts";
import type { OrderFault } from "../../ledger/order-fault.ts";
import type { TransferKind } from "../../../machines/transfer.ts";
import { waitForSwap } from "./choose-chunk.ts";
import { NOT_CLOSABLE } from "./choose-stray.ts";
import type { ChosenTransfer } from "./chosen-transfer.ts";
import type { OrderLook } from "./look.ts";
import { judge, type NotNow } from "./protocol/culprits.ts";
import type { TransferInHand } from "./transfer-in-hand.ts";
import {
  changed,
  held,
  isLongSince,
  leaveOut,
  lookAgain,
  putOff,
  type TransferOutcome,
} from "./transfer-outcomes.ts";

const HOUR_MS = 3_600_000;
const PURSE_PAUSE_MS = 60_000;

/** The account that holds the order: its receiver's, or in a chunk its own. */
const HELD_BY: Readonly<Record<TransferKind, string>> = {
  chunk: "address_frozen",
  rest: "sender_frozen",
  redirect: "receiver_frozen",
  collect: "address_frozen",
  foreign: "receiver_frozen",
};

interface FailedRun {
  readonly chosen: ChosenTransfer;
  readonly fault: OrderFault;
}

export function judgeFault(
  deps: Pick<PrivateContext, "clock" | "random" | "log">,
  inHand: TransferInHand,
  { chosen: { legs }, fault }: FailedRun,
): TransferOutcome {
  const { row, look } = inHand;
  const { kind } = row;
  if (kind === "collect" && isOfClosing(look, fault)) return putOff(NOT_CLOSABLE, 1_000);
  const verdict = judge(look.judged, { kind, k: kind === "chunk" ? row.n : null, legs, fault });
  deps.log.info({ transfer: row.id, error: fault.text, verdict }, "a transfer of an order would fail");
  switch (verdict.kind) {
    case "leave_out":
      return leaveOut(inHand, verdict.places);
    case "held":
      return held(deps, inHand, reasonOfHold(inHand));
    case "not_now":
      return notNow(deps, inHand, verdict.reason);
    // Newer than the reading: the next one shows it.
    case "stands":
    case "bare":
    case "without_cost":
      return putOff("read_again", null);
  }
}

function reasonOfHold({ row: { kind, mint }, look: { judged, terms } }: TransferInHand): string {
  const isOwn = HELD_BY[kind] === "address_frozen";
  const token = judged.tokens.find((each) => each.mint === (mint ?? terms.mint));
  const isGone = isOwn && token !== undefined && judged.look.isMissing(terms.address, token.mint);
  return isGone ? "address_missing" : HELD_BY[kind];
}

/** The account cannot be closed, or its rent is too little to be all that the order's address holds (rent has risen). */
function isOfClosing({ terms: { address } }: OrderLook, { at, error, account }: OrderFault): boolean {
  return at?.step === "close" || (error === "rent" && account === address);
}

function notNow(
  deps: Pick<PrivateContext, "clock">,
  inHand: TransferInHand,
  reason: NotNow,
): TransferOutcome {
  switch (reason) {
    case "low_purse":
      return putOff("low_purse", PURSE_PAUSE_MS);
    case "desk":
      return waitForSwap(deps, inHand, "LIQUIDITY_UNAVAILABLE");
    case "unexplained":
      return unexplained(deps, inHand);
    case "rent":
    case "levels":
    case "read_again":
      return lookAgain(deps, inHand, reason);
  }
}

/** Nobody is blamed; after an hour a person is told. */
function unexplained(deps: Pick<PrivateContext, "clock">, inHand: TransferInHand): TransferOutcome {
  const { row, attempts } = inHand;
  const since = Math.max(row.createdAt, ...attempts.map(({ createdAt }) => createdAt));
  const now = deps.clock.now();
  if (!isLongSince(since, now, HOUR_MS) || row.stuckSince !== null) return putOff("unexplained", null);
  return { ...putOff("stuck_payment", null), writes: [changed(row, { stuckSince: now })] };
}
