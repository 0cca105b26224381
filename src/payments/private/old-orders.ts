/** Removes orders of private mode that ended long ago, and leaves a stub by which what still comes is sent back. */
import type { StopResult } from "../../engine/index.ts";
import type { PrivateStorage, PrivateTables, PrivateWrite } from "./private-storage.ts";
import type {
  OrderedTransaction,
  OrderRecord,
  OrderStubRecord,
  OrderView,
  TransferRecord,
} from "./tables.ts";
import { canGo, forgotten, type LeavingParts } from "../frame/retention/leaving.ts";
import type { Leaving, OldRowRule } from "../frame/retention/old-rows.ts";
import { smallestAmount } from "../frame/assets/assets.ts";
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import type { OrderLook } from "./look.ts";
import { shareId } from "../frame/purses/sponsor-limit.ts";
import {
  archivedRows,
  archivedRunOf,
  endedRuns,
  type EndedRun,
  type Removal,
  type RemovingParts,
} from "../frame/retention/removal.ts";
import { isWatched } from "../../workflow/watch-rows.ts";

/** Ends an instance, which takes no event any more. */
export type StopInstance = (id: string) => Promise<StopResult>;

/** The parts of private mode that the removal of orders needs. */
export interface OrderAccess {
  readonly stopInstance: StopInstance;
  /** Rows and chain at this moment. Throws `LedgerUnavailable`. */
  readonly look: (id: string) => Promise<Pick<OrderLook, "facts">>;
  /** Has the order look itself. */
  readonly wake: (id: string) => Promise<unknown>;
}

interface OrderRemovalParts extends LeavingParts<PrivateStorage>, OrderAccess {}

/** An order with all its rows. */
interface FoundOrder {
  readonly id: string;
  readonly view: OrderedTransaction | undefined;
}

export function oldOrders(parts: OrderRemovalParts, keepMs: number | null): OldRowRule<FoundOrder> {
  const { storage } = parts;
  return {
    name: "private",
    keepMs,
    async page(after, limit) {
      const ids = (await storage.ordersAfter(after?.id ?? "", limit)).map(({ id }) => id);
      const views = await storage.orderedTransactions(ids);
      return ids.map((id) => ({ id, view: views.find(({ transaction }) => transaction.id === id) }));
    },
    look: async ({ view }, until) => (view === undefined ? "later" : lookAt(parts, view, until)),
  };
}

/** A transaction of private mode with its order. */
interface OwnView extends OrderedTransaction {
  readonly order: OrderView;
}

async function lookAt(
  parts: OrderRemovalParts,
  { order, ...view }: OrderedTransaction,
  until: number,
): Promise<Leaving | "later"> {
  if (order === null || !canGo(view.transaction) || !isAtRest(order)) return "later";
  const { storage, stopInstance, noticeRemovals } = parts;
  const { id } = view.transaction;
  const chunks = order.transfers.filter(({ kind }) => kind === "chunk").map((transfer) => transfer.id);
  const others = order.transfers.filter(({ kind }) => kind !== "chunk").map((transfer) => transfer.id);
  // An order hears of late money for ever, and its chunks of markers that are gone.
  const lasting = [id, ...chunks];
  const givenUp = new Set(order.transfers.filter(isGivenUp).map((transfer) => transfer.id));
  const [notices, ended, ...active] = await Promise.all([
    noticeRemovals(id, until),
    endedRuns(storage, others, until),
    ...lasting.map((each) => (givenUp.has(each) ? GIVEN_UP : activeSince(storage, each))),
  ]);
  if (notices === null || ended === null || active.some((since) => since > until)) return "later";
  // An ended order takes no more events: afterwards its stub alone tells of money.
  if (active[0] !== ENDED && !(await isEmpty(parts, id))) return "later";
  const instances = await Promise.all(lasting.map((each) => storage.load(each)));
  const own = await Promise.all(
    instances.filter((each) => each !== null).map((each) => archivedRunOf(storage, each)),
  );
  const { version } = order.order;
  // An event that it no longer takes is lost: an order that has changed meanwhile goes on.
  const end = async (): Promise<void> => {
    if ((await storage.order(id))?.version !== version) return;
    for (const [index, each] of lasting.entries()) if (active[index] !== ENDED) await stopInstance(each);
  };
  const removal = async (): Promise<Removal> => ({
    ...(await removalOf(parts, { ...view, order }, [...own, ...ended])),
    end,
  });
  return { before: notices, removal };
}

const ENDED = -Infinity;
/** It has a timer left, and rests for as long as its order does. */
const GIVEN_UP = 0;

/** The no-go of an order that has ended undecided, which is not worth its cost: nobody but its order has it signed. */
function isGivenUp({ kind, state, reason }: TransferRecord): boolean {
  return kind === "chunk" && state === "planned" && reason === "not_worth";
}

/** Since when an instance has rested: for ever if it has ended or is gone, not yet if it has something to do. */
async function activeSince(storage: Pick<PrivateStorage, "load" | "tasks">, id: string): Promise<number> {
  const [instance, tasks] = await Promise.all([
    storage.load(id),
    storage.tasks({ order: "instance", instance: id, limit: 1 }),
  ]);
  if (tasks.length > 0) return Infinity;
  if (instance?.status !== "active") return ENDED;
  return isWatched(instance) ? Infinity : instance.updatedAt;
}

/** Nobody has looked at its address for long: what has come since goes back, and the year begins anew. */
async function isEmpty({ look, wake }: OrderAccess, id: string): Promise<boolean> {
  try {
    const { worth, levels, isUnclear } = (await look(id)).facts;
    const isQuiet = levels.every(({ judgement }) => judgement === null);
    if (!isUnclear && isQuiet && (worth === "nothing" || worth === "not_worth")) return true;
    await wake(id);
    return false;
  } catch (error) {
    if (error instanceof LedgerUnavailable) return false;
    throw error;
  }
}

/** Whether nothing lies there that anybody waits for, as far as its rows tell. */
function isAtRest({ order, transfers, levels, deposits, holds, acts }: OrderView): boolean {
  const isIdle = order.state === "over" && order.overState === "idle" && order.ends === null;
  const isOpen =
    transfers.some((each) => (each.state === "planned" && !isGivenUp(each)) || each.state === "out") ||
    holds.some(({ endedAt }) => endedAt === null) ||
    acts.some(({ state }) => state === "open");
  // Tokens of the service's assets, in an account from which a person collects; strangers may send tokens of any other mint.
  // A sum below the smallest amount is neither told nor collected.
  const isUncollected = deposits.some(
    ({ account, leftAt, mint, amount, decimals }) =>
      account !== null &&
      leftAt === null &&
      levels.some((level) => level.mint === mint) &&
      (decimals === null || amount >= smallestAmount({ decimals })),
  );
  return (
    isIdle && !isOpen && !isUncollected && levels.every(({ missing, short }) => missing === 0n && !short)
  );
}

/**
 * Refused where anything has changed meanwhile. The signatures of the attempts stay: by these the chain is compared with the
 * database.
 */
async function removalOf(
  { storage }: RemovingParts<PrivateStorage>,
  view: OwnView,
  runs: readonly EndedRun[],
): Promise<Removal> {
  const { transaction, recipients, order } = view;
  const { id, quoteId, status } = transaction;
  const [attempts, quote, reservations] = await Promise.all([
    storage.attemptsOfAny(order.transfers.map((transfer) => transfer.id)),
    storage.quote(quoteId),
    storage.reservationsById([id, shareId(id)]),
  ]);
  const quotes = quote?.usedBy === id ? [quote] : [];
  const released = reservations.filter(({ releasedAt }) => releasedAt !== null);
  const writes: readonly PrivateWrite[] = [
    { table: "transactions", remove: id, expected: { status, attention: null } },
    { table: "orders", remove: id, expected: { version: order.order.version } },
    { table: "orderStubs", insert: stubOf(order.order, status) },
    ...removalsOf("recipients", recipients),
    ...removalsOf("chunks", order.chunks),
    ...removalsOf("transfers", order.transfers),
    ...removalsOf("levels", order.levels),
    ...removalsOf("deposits", order.deposits),
    ...removalsOf("holds", order.holds),
    ...removalsOf("acts", order.acts),
    ...removalsOf("quotes", quotes),
    ...removalsOf("reservations", released),
    ...attempts.map(forgotten),
  ];
  const rows = [
    ...archivedRows("transactions", [transaction]),
    ...archivedRows("orders", [order.order]),
    ...archivedRows("recipients", recipients),
    ...archivedRows("chunks", order.chunks),
    ...archivedRows("transfers", order.transfers),
    ...archivedRows("levels", order.levels),
    ...archivedRows("deposits", order.deposits),
    ...archivedRows("holds", order.holds),
    ...archivedRows("acts", order.acts),
    ...archivedRows("quotes", quotes),
    ...archivedRows("reservations", released),
    ...archivedRows("attempts", attempts),
    ...runs.flatMap((run) => run.rows),
  ];
  return { removes: runs.map(({ instance }) => instance), writes, rows };
}

function removalsOf<T extends keyof PrivateTables>(table: T, rows: readonly { readonly id: string }[]) {
  return rows.map(({ id: remove }) => ({ table, remove }));
}

function stubOf({ cut, ...order }: OrderRecord, status: string): OrderStubRecord {
  const { id, address, masterVersion, createdAt, layout, sender, mint, rentPerByte, windowEnds, loanBack } =
    order;
  const kept = { id, address, masterVersion, createdAt, layout, sender, mint };
  return { ...kept, chunks: cut.length, rentPerByte, windowEnds, loanBack, status };
}
