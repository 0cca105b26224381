/** The edges of the chart `order-transfer`, row by row, for the model and for the chart: see `../orders/edges.ts`. */
// modules: private
import type { TransferKind } from "../../../machines/transfer.ts";

const KINDS: Readonly<Record<TransferKind, true>> = {
  chunk: true,
  rest: true,
  redirect: true,
  collect: true,
  foreign: true,
};

/** Every kind of transfer. */
export const TRANSFER_KINDS = Object.keys(KINDS) as readonly TransferKind[];

/** Where a transfer is. `pausing` and `signing` are its state `planned`, and `done` is final of what has no chunk's marker. */
export type TransferPlace = "pausing" | "signing" | "out" | "done" | "ended";

/** What a transfer is told. `_NOBODY`: nobody of its chunk is to be paid. */
export type TransferEventName =
  | "SIGNED"
  | "MARK"
  | "CULPRIT"
  | "CULPRIT_NOBODY"
  | "HELD"
  | "NOT_NOW"
  | "EXPIRED"
  | "OWN_SIGNATURE"
  | "SAME_ACT"
  | "STANDS"
  | "DAY"
  | "NOTHING_LEFT"
  | "WANT_NOBODY"
  | "GONE"
  | "GONE_NOBODY"
  | "RETRY";

/** A row of the transfer's table. */
export interface TransferEdge {
  readonly in: readonly TransferPlace[];
  readonly on: TransferEventName;
  readonly kinds: readonly TransferKind[];
  /** Only while somebody of the chunk is to be paid. */
  readonly if?: "somebody";
  /** `pausing`: it is signed again after its pause. */
  readonly to: TransferPlace;
  /** Whether the order is told to look. */
  readonly tells?: true;
}

const PLANNED: readonly TransferPlace[] = ["pausing", "signing"];
const CHUNKS: readonly TransferKind[] = ["chunk"];
const ACTS: readonly TransferKind[] = ["redirect", "foreign"];
const OTHERS = TRANSFER_KINDS.filter((kind) => !CHUNKS.includes(kind));

/** Every row of the transfer's chart. */
export const TRANSFER: readonly TransferEdge[] = [
  { in: ["signing"], on: "SIGNED", kinds: TRANSFER_KINDS, to: "out" },
  { in: ["signing"], on: "CULPRIT", kinds: CHUNKS, if: "somebody", to: "pausing", tells: true },
  { in: ["signing"], on: "CULPRIT_NOBODY", kinds: CHUNKS, if: "somebody", to: "pausing", tells: true },
  { in: ["signing"], on: "HELD", kinds: TRANSFER_KINDS, to: "pausing" },
  { in: ["signing"], on: "NOT_NOW", kinds: TRANSFER_KINDS, to: "pausing" },
  { in: PLANNED, on: "RETRY", kinds: TRANSFER_KINDS, to: "pausing" },
  { in: PLANNED, on: "WANT_NOBODY", kinds: CHUNKS, to: "pausing" },
  { in: PLANNED, on: "STANDS", kinds: ACTS, to: "ended", tells: true },
  { in: PLANNED, on: "DAY", kinds: ACTS, to: "ended", tells: true },
  { in: PLANNED, on: "NOTHING_LEFT", kinds: OTHERS, to: "ended", tells: true },
  { in: [...PLANNED, "out"], on: "MARK", kinds: CHUNKS, to: "done", tells: true },
  { in: [...PLANNED, "out"], on: "SAME_ACT", kinds: ACTS, to: "done", tells: true },
  { in: [...PLANNED, "out"], on: "OWN_SIGNATURE", kinds: OTHERS, to: "done", tells: true },
  { in: ["out"], on: "WANT_NOBODY", kinds: CHUNKS, if: "somebody", to: "pausing" },
  { in: ["out"], on: "CULPRIT", kinds: CHUNKS, if: "somebody", to: "pausing", tells: true },
  { in: ["out"], on: "CULPRIT_NOBODY", kinds: CHUNKS, if: "somebody", to: "pausing", tells: true },
  { in: ["out"], on: "HELD", kinds: TRANSFER_KINDS, to: "pausing", tells: true },
  { in: ["out"], on: "NOT_NOW", kinds: TRANSFER_KINDS, to: "pausing", tells: true },
  { in: ["out"], on: "EXPIRED", kinds: TRANSFER_KINDS, to: "pausing", tells: true },
  { in: ["done"], on: "GONE", kinds: CHUNKS, to: "pausing" },
  { in: ["done"], on: "GONE_NOBODY", kinds: CHUNKS, to: "pausing" },
];

/** A transfer as its chart has it. */
export interface TransferPosition {
  readonly kind: TransferKind;
  readonly place: TransferPlace;
  readonly isNobodyWanted: boolean;
}

/** The row of an event; undefined where there is none. */
export function transferEdgeOf(
  edges: readonly TransferEdge[],
  { kind, place, isNobodyWanted }: TransferPosition,
  event: TransferEventName,
): TransferEdge | undefined {
  return edges.find(
    (row) =>
      row.on === event &&
      row.in.includes(place) &&
      row.kinds.includes(kind) &&
      !(row.if === "somebody" && isNobodyWanted),
  );
}

/** The transfer after a row was taken. */
export function afterTransferEdge({ on, to }: TransferEdge, position: TransferPosition): TransferPosition {
  const isRefused = on === "WANT_NOBODY" || on.endsWith("_NOBODY");
  return { ...position, place: to, isNobodyWanted: position.isNobodyWanted || isRefused };
}
