/** The chain's word about a transfer beside its own signatures: by its marker, whoever made it. */
import type { OrderChange, OrderHistory } from "../../ledger/order-reading.ts";
import type { PrivateContext, PrivateWrite } from "./private-storage.ts";
import { releaseReserved, settleReserved } from "../frame/purses/reserve.ts";
import type { AttemptLeg } from "../frame/tables/attempts.ts";
import type { ActRecord } from "./tables.ts";
import { bookChange, takenBy } from "./book-transfer.ts";
import { actOf } from "./choose-redirect.ts";
import { timeOf } from "./judged-rows.ts";
import type { OrderLook } from "./look.ts";
import { noteMatters } from "./marker-matters.ts";
import { refundEvent } from "./order-events.ts";
import { uncovered } from "./protocol/cost.ts";
import { seedOfRedirect } from "./protocol/cut.ts";
import { NOBODY } from "./protocol/outcome.ts";
import { judgeRedirect } from "./protocol/redirect.ts";
import { receivedBy } from "./protocol/story.ts";
import { aliveAmong, type TransferInHand } from "./transfer-in-hand.ts";
import { changed, orderChanged, putOff, type TransferOutcome } from "./transfer-outcomes.ts";

type SettlingDeps = Pick<PrivateContext, "ledger" | "clock" | "storage">;

/** So long what a person has ordered is signed; an hour later the bytes of every copy have died. */
const DAY_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;

/** Null while it says nothing. Throws `LedgerUnavailable` if nobody tells who made the marker of an act. */
export async function settledOnChain(
  deps: SettlingDeps,
  inHand: TransferInHand,
): Promise<TransferOutcome | null> {
  const { row, look } = inHand;
  switch (row.kind) {
    case "chunk": {
      const marker = look.facts.chunks[row.n]?.marker;
      return typeof marker === "number" ? marked(deps, inHand, marker) : null;
    }
    case "redirect":
      return settledAct(deps, inHand);
    case "foreign":
      return row.to === look.terms.sender ? overdue(inHand, row.createdAt, []) : settledAct(deps, inHand);
    default:
      return null;
  }
}

/** The chunk is done, whatever this copy has signed. */
function marked({ clock }: SettlingDeps, { row }: TransferInHand, length: number): TransferOutcome {
  const now = clock.now();
  const { reserved } = row;
  return {
    event: { type: "MARK", length },
    writes: [
      ...(length === NOBODY ? releaseReserved(reserved, now) : settleReserved(reserved, now)),
      changed(row, { reserved: [] }),
    ],
  };
}

/** K12: its marker tells it done or superseded; without one it is signed for a day after it was approved, and ends. */
async function settledAct(deps: SettlingDeps, inHand: TransferInHand): Promise<TransferOutcome | null> {
  const { look } = inHand;
  const act = actOf(inHand);
  const marker = look.judged.look.marker(seedOfRedirect(act.n));
  if (marker !== null) {
    const change = await makerOf(deps, inHand);
    if (change === null) return unlisted(deps, inHand, act);
    return judgeRedirect(act, change) === "done"
      ? sameAct(inHand, change)
      : { event: { type: "STANDS" }, writes: [...bookChange(look, change), endAct(act, "superseded")] };
  }
  return overdue(inHand, act.approvedAt, [orderChanged(look), endAct(act, "ended")]);
}

/** A node may list the transaction of the act's marker later. After a day the act ends, other refunds may go, and a matter tells a person. */
async function unlisted(
  deps: SettlingDeps,
  { look }: TransferInHand,
  act: ActRecord,
): Promise<TransferOutcome> {
  if (!isPast(look, act.approvedAt + DAY_MS)) return putOff("unclear", null);
  const detail = `marker r${act.n} stands, and no node lists whom its transaction has paid`;
  const told = await noteMatters(deps, look, [{ kind: "unexplained", detail }]);
  return { event: { type: "STANDS" }, writes: [orderChanged(look), endAct(act, "superseded"), ...told] };
}

function isPast({ judged }: Pick<OrderLook, "judged">, time: number): boolean {
  return judged.look.isSaid(({ blockTime }) => blockTime * 1_000 >= time);
}

/**
 * Signs no more what a person has ordered a day ago. Ends it once no signed bytes for it can land, another copy's included.
 */
function overdue(
  { attempts, height, look }: TransferInHand,
  since: number,
  writes: readonly PrivateWrite[],
): TransferOutcome | null {
  if (!isPast(look, since + DAY_MS)) return null;
  const isDead = isPast(look, since + DAY_MS + HOUR_MS) && aliveAmong(attempts, height).length === 0;
  return isDead ? { event: { type: "DAY" }, writes } : putOff("another_out", null);
}

/** Another copy has carried the act out: the receipt of its transaction has the refund and the cost. */
function sameAct({ row, look }: TransferInHand, change: OrderChange): TransferOutcome {
  const act = actOf({ row, look });
  const { mint, to } = act;
  const given = receivedBy(change, to, mint);
  const legs: readonly AttemptLeg[] = [
    { mint, to, amount: given, as: "payee" },
    { mint, to: look.terms.sponsor, amount: uncovered(takenBy(look, change, mint), given), as: "cost" },
  ];
  return {
    event: { type: "SAME_ACT" },
    writes: [
      ...bookChange(look, change),
      endAct(act, "done"),
      changed(row, { signature: change.signature, legs, landedAt: timeOf(look.reading) }),
      ...refundEvent(row.order, { transfer: row.id, legs }),
    ],
  };
}

export function endAct({ id }: Pick<ActRecord, "id">, state: ActRecord["state"]): PrivateWrite {
  return { table: "acts", id, set: { state } };
}

/** The transaction that made the marker of an act, by its receipt; null while no node lists it. */
async function makerOf({ ledger }: SettlingDeps, { look, row }: TransferInHand): Promise<OrderChange | null> {
  const { terms, judged } = look;
  const marker = ledger.markerOf(terms.address, seedOfRedirect(row.n));
  const query = { ...judged.look.query, rentPerByte: terms.rentPerByte };
  for (let since: number | null = 0; since !== null;) {
    const { changes, more }: OrderHistory = await ledger.changesOfOrder(query, since);
    const maker = changes.find(({ isOwn, markers }) => isOwn && markers.includes(marker));
    if (maker !== undefined) return maker;
    // A list without an end is not read: it gives the same slot again.
    since = more === null || more > since ? more : null;
  }
  return null;
}
