/**
 * The edges of the chart `private-order`, row by row. The model searches its worlds by these rows, and the chart is compared
 * with them event by event in every state, so that chart and proof cannot drift apart. An event without a row changes nothing.
 */

import type { OrderContext } from "../../../machines/order-context.ts";

/** Where an order is: a state of its chart; the stages of `idle` are one place. */
export type OrderPlace =
  | "waiting"
  | "deciding"
  | "refusing"
  | "closing"
  | "paying"
  | "over.idle"
  | "over.refusing"
  | "over.paying"
  | "over.resting";

/** What the rows say of an order's markers, and what callers are told: see the chart's context. */
export type Decision = OrderContext["decision"];
export type OrderStatus = OrderContext["status"];

/** What an order is told. GO, NO_GO and GONE are of chunk 0, GONE_K is of a later one; `_NOBODY`: nobody of it is wanted. */
export type OrderEventName =
  | "GO"
  | "NO_GO"
  | "MARKS"
  | "GONE"
  | "GONE_NOBODY"
  | "GONE_K"
  | "GONE_K_NOBODY"
  | "FUNDED"
  | "WINDOW_OVER"
  | "WINDOW_OVER_REFUSED"
  | "CULPRITS"
  | "BELOW"
  | "BELOW_COST"
  | "CONFIRMED"
  | "DECIDED_ALL"
  | "DECIDED_SOME"
  | "DECIDED_NONE"
  | "LATE"
  | "EMPTY"
  | "CANCEL"
  | "DECLINE"
  | "FORECLOSE"
  | "LINE_FAILED"
  | "LINE_CANCELLED";

/** A row of the order's table. */
export interface OrderEdge {
  readonly in: readonly OrderPlace[];
  readonly on: OrderEventName;
  /** Only while the rows say so of the markers. */
  readonly if?: readonly Decision[];
  /** Left out: where it was, entered anew. */
  readonly to?: OrderPlace;
  /** Left out: as it was. `processing` lowers nothing that was confirmed. */
  readonly status?: OrderStatus;
  /** What the rows say of the markers from now on. Left out: the same. */
  readonly decision?: Decision;
  /** The notices, and what the transfer of a chunk is told. */
  readonly tells?: readonly string[];
}

const OPEN: readonly OrderPlace[] = ["waiting", "deciding", "refusing"];
const OVER: readonly OrderPlace[] = ["over.idle", "over.refusing", "over.paying", "over.resting"];
const PAYING: readonly OrderPlace[] = ["paying", "over.paying"];
const PAID: readonly Decision[] = ["go", "decided"];
const SEEN: readonly Decision[] = [...PAID, "refused"];
const UNPAID = { to: "over.resting", status: "failed", tells: ["failed"] } as const;

/** Every row of the order's chart. */
export const ORDER: readonly OrderEdge[] = [
  { in: OPEN, on: "GO", to: "paying", status: "processing", decision: "go" },
  { in: OPEN, on: "NO_GO", ...UNPAID, decision: "refused" },
  { in: ["waiting"], on: "FUNDED", to: "deciding", status: "processing" },
  { in: ["waiting"], on: "CANCEL", to: "closing" },
  { in: ["waiting"], on: "WINDOW_OVER_REFUSED", to: "refusing", status: "processing" },
  { in: ["waiting"], on: "WINDOW_OVER", to: "closing" },
  { in: ["deciding"], on: "DECLINE", to: "refusing", tells: ["0 WANT_NOBODY"] },
  { in: ["deciding"], on: "CULPRITS", to: "refusing", tells: ["0 WANT_NOBODY"] },
  { in: ["deciding"], on: "BELOW", to: "refusing", tells: ["0 WANT_NOBODY"] },
  { in: ["refusing"], on: "BELOW_COST", to: "closing" },
  // The journal's line ends what is closing; at a start also whatever is short of paying.
  { in: [...OPEN, "closing"], on: "LINE_FAILED", to: "over.idle", status: "failed", tells: ["failed"] },
  { in: [...OPEN, "closing"], on: "LINE_CANCELLED", to: "over.idle", status: "cancelled" },

  { in: ["paying"], on: "GO", if: ["open"], decision: "go" },
  { in: ["paying"], on: "NO_GO", if: ["open"], decision: "refused" },
  { in: ["paying"], on: "DECLINE", if: ["open"], to: "refusing", tells: ["0 WANT_NOBODY"] },
  { in: ["deciding", "paying"], on: "CONFIRMED", status: "confirmed", tells: ["confirmed"] },
  {
    in: ["paying"],
    on: "DECIDED_ALL",
    if: ["go"],
    to: "over.resting",
    status: "completed",
    decision: "decided",
    tells: ["confirmed", "completed"],
  },
  { in: ["paying"], on: "DECIDED_SOME", if: ["go"], ...UNPAID, decision: "decided" },
  { in: ["paying"], on: "DECIDED_NONE", if: ["go"], ...UNPAID, decision: "decided" },
  { in: ["paying"], on: "DECIDED_NONE", if: ["refused"], ...UNPAID },
  { in: ["paying"], on: "GONE", if: SEEN, decision: "open", tells: ["0 GONE"] },
  { in: ["paying"], on: "GONE_NOBODY", if: SEEN, decision: "open", tells: ["0 GONE nobody"] },
  { in: ["paying"], on: "GONE_K", if: PAID, decision: "go", tells: ["1 GONE"] },
  { in: ["paying"], on: "GONE_K_NOBODY", if: PAID, decision: "go", tells: ["1 GONE nobody"] },
  { in: PAYING, on: "MARKS" },
  { in: PAYING, on: "FORECLOSE", tells: ["1 WANT_NOBODY"] },

  { in: OVER, on: "GO", if: ["open"], to: "over.paying", decision: "go" },
  { in: OVER, on: "NO_GO", if: ["open"], to: "over.resting", decision: "refused" },
  { in: OVER, on: "GONE", if: SEEN, to: "over.paying", decision: "open", tells: ["0 GONE"] },
  { in: OVER, on: "GONE_NOBODY", if: SEEN, to: "over.refusing", decision: "open", tells: ["0 GONE nobody"] },
  { in: OVER, on: "GONE_K", if: PAID, to: "over.paying", decision: "go", tells: ["1 GONE"] },
  {
    in: OVER,
    on: "GONE_K_NOBODY",
    if: PAID,
    to: "over.paying",
    decision: "go",
    tells: ["1 GONE nobody"],
  },
  { in: ["over.idle"], on: "LATE", if: ["open"], to: "over.refusing", tells: ["0 WANT_NOBODY"] },
  { in: ["over.idle"], on: "LATE", if: ["decided", "refused"], to: "over.resting" },
  { in: ["over.paying"], on: "DECLINE", if: ["open"], to: "over.refusing", tells: ["0 WANT_NOBODY"] },
  ...(["DECIDED_ALL", "DECIDED_SOME", "DECIDED_NONE"] as const).map((on): OrderEdge => ({
    in: ["over.paying"],
    on,
    if: ["go"],
    to: "over.resting",
    decision: "decided",
  })),
  { in: ["over.refusing", "over.resting"], on: "EMPTY", to: "over.idle" },
  { in: ["over.refusing", "over.resting"], on: "BELOW_COST", to: "over.idle" },
];

/** An order as its chart has it. */
export interface OrderPosition {
  readonly place: OrderPlace;
  readonly status: OrderStatus;
  readonly decision: Decision;
}

/** The row of an event; undefined where there is none. */
export function edgeOf(
  edges: readonly OrderEdge[],
  { place, status, decision }: OrderPosition,
  event: OrderEventName,
): OrderEdge | undefined {
  const edge = edges.find((row) => row.on === event && row.in.includes(place) && isIf(row, decision));
  // What callers were told is told once.
  return event === "CONFIRMED" && status === "confirmed" ? undefined : edge;
}

function isIf({ if: decisions }: OrderEdge, decision: Decision): boolean {
  return decisions === undefined || decisions.includes(decision);
}

/** The order after a row was taken. */
export function afterEdge(edge: OrderEdge, before: OrderPosition): OrderPosition {
  const { to: place = before.place, status = before.status, decision = before.decision } = edge;
  const isLowered = status === "processing" && before.status === "confirmed";
  return { place, status: isLowered ? before.status : status, decision };
}
