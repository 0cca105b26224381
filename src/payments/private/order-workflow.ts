/** The chart `order` acted out: its looks, the line of an end, and the rows that its steps write. */
import { order } from "../../../machines/order.ts";
import type { OrderContext, OrderEvent, OrderInput } from "../../../machines/order-context.ts";
import { startOf, workflow, type StartRequest, type Workflow } from "../../engine/index.ts";
import { noticeWrites, untoldEvent, type AnnounceEffect } from "../frame/notices/notice-writes.ts";
import type { PrivateWrite, PrivateTables } from "./private-storage.ts";
import { releaseOrder, releaseShare } from "../frame/purses/sponsor-limit.ts";
import { isFinalStatus } from "../frame/tables/orders.ts";
import type { ClosingOrder, OrderRecord } from "./tables.ts";
import type { OrderConcluder } from "./conclude-look.ts";

export type OrderWorkflow = Workflow<typeof order, PrivateTables>;

/** Has an end written down where a lost database does not reach it, and gives the end that stands. */
export type RecordEnd = (id: string, end: ClosingOrder) => Promise<ClosingOrder>;

interface OrderEffects {
  readonly concluder: OrderConcluder;
  readonly recordEnd: RecordEnd;
  readonly announce: AnnounceEffect;
}

export function orderWorkflow({ concluder, recordEnd, announce }: OrderEffects): OrderWorkflow {
  return workflow(order)<PrivateTables>({
    version: 1,
    effects: {
      look: (_params, { instance, key }) => concluder.conclude(instance, key),
      writeLine: async ({ ends }, { instance }) => {
        if (ends === null) throw new Error(`order ${instance} is closing without an end`);
        const { status, reason } = await recordEnd(instance, ends);
        return { event: { type: "LINE_STANDS", status, reason: reason as OrderContext["reason"] } };
      },
      announce,
    },
    watches: {
      orders: ({ order: id }) => id,
      activeOrders: ({ order: id }) => id,
      lateOrders: ({ order: id }) => id,
      slowOrders: ({ order: id }) => id,
    },
    // Late money and looks make steps for as long as an order is kept.
    history: { keep: 200 }, // modules: folding
    project: ({ id, before, after, event, effects }, at) => {
      const { status, reason, signature, blockTime, charged } = after.context;
      const fee = charged === null ? null : BigInt(charged);
      const shown = { status, reason, signature, blockTime, fee };
      const notices = noticeWrites(id, shown, { effects, at });
      // The first step belongs to the commit that inserts the rows, already as they should be.
      if (before === null) return notices;
      return [
        ...transactionWrites(id, { before: before.context, after: after.context, shown }, at),
        ...orderWrites(
          id,
          { before: placeOf(before.value), after: placeOf(after.value) },
          { context: after.context, at },
        ),
        ...wantedWrites(id, placeOf(after.value), event),
        ...notices,
      ];
    },
  });
}

/** The first step of an order, for the commit that takes it. */
export function startOrder(orders: OrderWorkflow, { id }: Pick<OrderRecord, "id">): StartRequest {
  return startOf(orders, id, { order: id } satisfies OrderInput);
}

/** Where an order stands: as its row has it, and whether its end is being written down. */
type Place = Pick<OrderRecord, "state" | "overState"> | "closing";

function placeOf(value: unknown): Place {
  if (typeof value === "string") return { state: value as OrderRecord["state"], overState: null };
  const [[outer, inner] = ["", ""]] = Object.entries(value as Readonly<Record<string, unknown>>);
  const part = typeof inner === "string" ? inner : (Object.keys(inner as object)[0] ?? "");
  if (part === "closing") return "closing";
  if (outer === "over") return { state: "over", overState: part as OrderRecord["overState"] };
  return { state: part as OrderRecord["state"], overState: null };
}

interface Shown extends Pick<OrderContext, "status" | "reason" | "signature" | "blockTime"> {
  readonly fee: bigint | null;
}

function transactionWrites(
  id: string,
  {
    before,
    after,
    shown,
  }: { readonly before: OrderContext; readonly after: OrderContext; readonly shown: Shown },
  at: number,
): readonly PrivateWrite[] {
  const isSame =
    before.status === after.status &&
    before.reason === after.reason &&
    before.signature === after.signature &&
    before.blockTime === after.blockTime &&
    before.charged === after.charged;
  if (isSame) return [];
  const isEnd = isFinalStatus(after.status) && !isFinalStatus(before.status);
  const isCancelled = isEnd && after.status === "cancelled";
  const set = { ...shown, ...(isEnd ? { finalAt: at } : {}), ...(isCancelled ? { cancelledAt: at } : {}) };
  const told = isCancelled ? [untoldEvent(id, { event: "transaction.cancelled", by: "cancel" })] : [];
  return [{ table: "transactions", id, set }, ...told];
}

function orderWrites(
  id: string,
  { before, after }: { readonly before: Place; readonly after: Place },
  { context, at }: { readonly context: OrderContext; readonly at: number },
): readonly PrivateWrite[] {
  const { ends, reason } = context;
  if (after === "closing") return [{ table: "orders", id, set: { ends, reason } }];
  const isOver = after.state === "over";
  const isWaitOver = before !== "closing" && before.state === "waiting" && after.state !== "waiting";
  const wasWaiting = isWaitOver || before === "closing";
  const isSame =
    before !== "closing" &&
    before.state === after.state &&
    before.overState === after.overState &&
    !wasWaiting;
  if (isSame) return [];
  const wasIdle = before !== "closing" && before.overState === "idle";
  const isBegun = isUnbegun(before) && !isUnbegun(after);
  return [
    {
      table: "orders",
      id,
      set: { ...after, reason, lastGoHeight: null, ends: null, ...(wasWaiting ? { waitEndedAt: at } : {}) },
    },
    ...(isBegun ? [releaseShare(id, at)] : []),
    ...(isOver && after.overState === "idle" && !wasIdle ? [releaseOrder(id, at)] : []),
  ];
}

/** Whether nothing may have been signed of the order yet: its share ends with the first bytes, or here. */
function isUnbegun(place: Place): boolean {
  return place === "closing" || place.state === "waiting" || place.state === "deciding";
}

/** Nobody of a chunk is to be paid any more: of chunk 0 as soon as the order is refused, or has ended without a decision. */
function wantedWrites(id: string, after: Place, event: OrderEvent | null): readonly PrivateWrite[] {
  const isRefusing = after !== "closing" && (after.state === "refusing" || after.overState === "refusing");
  // A database that was set back may be about to pay an order of which a line tells the end.
  const isRefused = isRefusing || event?.type === "LINE_STANDS";
  const refused: PrivateWrite[] = isRefused ? [{ table: "chunks", id: `${id}:0`, set: { wanted: 1 } }] : [];
  if (event?.type !== "FORECLOSE") return refused;
  // A transfer that has looked before leaves out whom it blames, and would have the others paid.
  const refusesOlder: PrivateWrite = { table: "orders", id, set: {} };
  return [...refused, refusesOlder, { table: "chunks", id: `${id}:${event.chunk}`, set: { wanted: 1 } }];
}
