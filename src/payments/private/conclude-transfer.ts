/** Concludes what became of a transfer's attempts: by its marker, or by their own final signatures. */
import type { PrivateContext, PrivateWrite } from "./private-storage.ts";
import type { AttemptRecord } from "../frame/tables/attempts.ts";
import type { TransferRecord } from "./tables.ts";
import { attemptOf } from "../frame/signed/stored-attempt.ts";
import { isDead } from "./attempt-death.ts";
import { blamedFor, type Landed } from "./blame-landing.ts";
import { passedBids, returnedBids } from "./bids.ts";
import { bookLandings } from "./book-transfer.ts";
import { isOfDust } from "./dust.ts";
import { timeOf } from "./judged-rows.ts";
import { actOf } from "./choose-redirect.ts";
import type { LookParts } from "./look.ts";
import { refundEvent } from "./order-events.ts";
import { endAct, settledOnChain } from "./settled-on-chain.ts";
import { takeInHand, type TransferInHand } from "./transfer-in-hand.ts";
import { changed, leaveOut, orderChanged, putOff, type TransferOutcome } from "./transfer-outcomes.ts";

export interface ConcludingDeps extends LookParts, Pick<PrivateContext, "clock"> {
  /** The sponsor's address. */
  readonly sponsor: string;
}

/** Landings with an error (K14), or bids that passed, of which a person is told. */
const STUCK_AFTER = 3;

/** The effect `conclude`. Tells nothing while it is open what became of an attempt. */
export async function concludeTransfer(deps: ConcludingDeps, id: string): Promise<TransferOutcome> {
  const inHand = await takeInHand(deps, id, "out.concluding");
  if (inHand === null) return {};
  const outcome = await conclude(deps, inHand);
  return outcome.event === undefined ? outcome : { ...outcome, expectedVersion: inHand.version };
}

async function conclude(deps: ConcludingDeps, inHand: TransferInHand): Promise<TransferOutcome> {
  const open = openAmong(inHand);
  const landed = await landedAmong(deps, open);
  const own = landed.filter(({ landing }) => landing.error === null);
  if (own.length > 0 && inHand.row.kind !== "chunk") return booked(inHand, own);
  const settled = await settledOnChain(deps, inHand);
  if (settled?.event?.type === "MARK" || settled?.event?.type === "SAME_ACT") return settled;
  // The marker follows: this reading is older than the receipt.
  if (own.length > 0) return {};
  if (landed.length > 0) return failed(deps, inHand, landed);
  return (await areExpired(deps, inHand, open)) ? expired(deps, inHand, open) : {};
}

/**
 * Looks for a landing before bytes are signed anew: an endpoint that fell behind may have pronounced the old ones dead too early.
 * The look is older than the receipts that this asks for. Null if it has not; of a chunk its marker tells.
 */
export async function landedBefore(
  deps: ConcludingDeps,
  inHand: TransferInHand,
): Promise<TransferOutcome | null> {
  const open = openAmong(inHand);
  if (inHand.row.kind === "chunk" || open.length === 0) return null;
  const own = (await landedAmong(deps, open)).filter(({ landing }) => landing.error === null);
  if (own.length > 0) return booked(inHand, own);
  if (await isDoubted(deps, inHand, open)) return putOff("unclear", null);
  return isNothingLeft(inHand) && (await isSeen(deps, open)) ? denied(deps, inHand) : null;
}

/** Whether the witnesses say that a rest has nothing to send any more. */
function isNothingLeft({ row: { kind }, look: { facts } }: TransferInHand): boolean {
  return kind === "rest" && (facts.worth === "nothing" || facts.worth === "not_worth");
}

/** It may have gone by bytes that an endpoint shows, and another one denies: a person is told, until they agree. */
function denied({ clock }: ConcludingDeps, { row }: TransferInHand): TransferOutcome {
  const isTold = row.stuckSince !== null;
  return { ...putOff("unclear", null), writes: isTold ? [] : [changed(row, { stuckSince: clock.now() })] };
}

function openAmong({ attempts }: TransferInHand): readonly AttemptRecord[] {
  return attempts.filter(({ error }) => error === null);
}

async function landedAmong(
  { ledger }: ConcludingDeps,
  open: readonly AttemptRecord[],
): Promise<readonly Landed[]> {
  const landings = await ledger.landings(open.map(attemptOf));
  return open.flatMap((attempt, index) => {
    const landing = landings[index] ?? null;
    return landing === null ? [] : [{ attempt, landing }];
  });
}

/** By all that have landed: an endpoint that fell behind may have pronounced the first one dead too early. */
function booked(inHand: TransferInHand, landed: readonly Landed[]): TransferOutcome {
  const { row, look } = inHand;
  const isAct = row.kind === "redirect" || (row.kind === "foreign" && row.to !== look.terms.sender);
  const times = landed.map(({ landing: { blockTime } }) =>
    blockTime === null ? timeOf(look.reading) : blockTime * 1_000,
  );
  const landedAt = Math.max(...times);
  const legs = landed.flatMap(({ attempt }) => attempt.legs ?? []);
  const [signature = "", ...alsoLanded] = landed.map(({ attempt }) => attempt.id);
  const { writes, set } = bookLandings(
    look,
    landed.map(({ attempt, landing: { slot } }) => ({ ...attempt, slot })),
  );
  return {
    event: { type: "OWN_SIGNATURE", signature },
    writes: [
      orderChanged(look, set),
      ...writes,
      ...refundEvent(row.order, { transfer: row.id, legs }),
      ...strayLeft(inHand, landedAt),
      changed(row, { signature, alsoLanded, landedAt }),
      ...(isAct ? [endAct(actOf(inHand), "done")] : []),
    ],
  };
}

/** Uncounted money has left every other account. */
function strayLeft(
  { row: { kind, subjects }, look }: TransferInHand,
  leftAt: number,
): readonly PrivateWrite[] {
  if (kind !== "collect" && kind !== "foreign") return [];
  return look.view.deposits
    .filter((deposit) => deposit.leftAt === null && subjects.includes(deposit.account ?? ""))
    .map(({ id }) => ({ table: "deposits", id, set: { leftAt } }));
}

/** Signed anew, without those who are to blame. A rest that dust has disturbed goes without the assertion (K13). */
async function failed(
  deps: ConcludingDeps,
  inHand: TransferInHand,
  landed: readonly Landed[],
): Promise<TransferOutcome> {
  const { row, attempts } = inHand;
  const blamed = await Promise.all(landed.map((each) => blamedFor(deps, inHand, each)));
  const told = blamed.some((places) => places.length > 0)
    ? leaveOut(inHand, blamed.flat())
    : putOff(isByDust(row, landed) ? "dust" : "landed_with_error", 0);
  const errors = attempts.filter(({ error }) => error !== null).length + landed.length;
  const stuck = errors >= STUCK_AFTER ? { stuckSince: row.stuckSince ?? deps.clock.now() } : {};
  return {
    ...told,
    writes: [
      ...(told.writes ?? []),
      ...landed.map(({ attempt, landing }): PrivateWrite => {
        return { table: "attempts", id: attempt.id, set: { error: landing.error } };
      }),
      changed(row, stuck),
    ],
  };
}

function isByDust({ kind }: Pick<TransferRecord, "kind">, landed: readonly Landed[]): boolean {
  return kind === "rest" && landed.some(({ landing }) => isOfDust(landing.error));
}

/** One endpoint's word that something has landed is waited for so long, in blocks: an hour. */
const BLOCKS_OF_DOUBT = 9_000;

/**
 * A finalized height is past them all, as enough endpoints say, and no endpoint shows a signature. For a chunk the marker
 * alone decides: a node's word about its bytes would keep its payees waiting.
 */
async function areExpired(
  deps: ConcludingDeps,
  inHand: TransferInHand,
  open: readonly AttemptRecord[],
): Promise<boolean> {
  if (!open.every((attempt) => isDead(attempt, inHand.height))) return false;
  return inHand.row.kind === "chunk" || !(await isDoubted(deps, inHand, open));
}

/** Whether an endpoint shows one of them, and the others have not said for an hour that it has landed. */
async function isDoubted(
  deps: ConcludingDeps,
  { height }: TransferInHand,
  open: readonly AttemptRecord[],
): Promise<boolean> {
  if (open.every((attempt) => isDead(attempt, height - BLOCKS_OF_DOUBT))) return false;
  return isSeen(deps, open);
}

async function isSeen(
  { ledger }: Pick<ConcludingDeps, "ledger">,
  open: readonly AttemptRecord[],
): Promise<boolean> {
  return (await ledger.sightings(open.map(({ id }) => id))).some((sighting) => sighting !== "absent");
}

async function expired(
  deps: ConcludingDeps,
  { row, attempts, height }: TransferInHand,
  open: readonly AttemptRecord[],
): Promise<TransferOutcome> {
  const isStuck = passedBids(attempts, height).length >= STUCK_AFTER && row.stuckSince === null;
  return {
    event: { type: "EXPIRED" },
    writes: [
      ...(await returnedBids(deps, open)),
      ...(isStuck ? [changed(row, { stuckSince: deps.clock.now() })] : []),
    ],
  };
}
