/** Messages between an order of private mode and its transfers. */

/** To an order: something may have changed. From a transfer that is confirmed, failed or has ended; and from a person's act. */
export interface LookEvent {
  readonly type: "LOOK";
}

/** Tells the transfer of a chunk to pay none of its payees. Bytes that were signed before may still land. */
export interface WantNobodyEvent {
  readonly type: "WANT_NOBODY";
}

/** To the transfer of a chunk: its marker is on the chain no more, by two readings. It is made again. */
export interface MarkerGoneEvent {
  readonly type: "GONE";
  /** Whether it is to say *nobody*, as it said, or as the chunk's row wanted. Else whoever it paid is paid. */
  readonly isNobodyWanted: boolean;
}

/** A message to another instance: the params of the engine's own action `tell`. */
export type OrderMessage =
  | { readonly machine: "private-order"; readonly id: string; readonly event: LookEvent }
  | {
      readonly machine: "order-transfer";
      readonly id: string;
      readonly event: WantNobodyEvent | MarkerGoneEvent;
    };

/** The id of the transfer that decides a chunk of an order: each chunk has one, for ever. */
export function chunkTransfer(order: string, chunk: number): string {
  return `${order}:${chunk}`;
}
