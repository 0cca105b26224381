/** The markers and balances of an order, as acts need them. */
import { SOL_MINT, type Address } from "../../../core/address.ts";
import type { OrderLook } from "../look.ts";

export interface OrderStanding {
  /** Chunk 0's marker stands and says that some are paid: the order is being paid. */
  readonly hasGo: boolean;
  /** Chunk 0's marker says that nobody is paid. */
  readonly isRefused: boolean;
  /** Refused, or every chunk's marker stands. */
  readonly isDecided: boolean;
  /** Chunks whose marker does not stand, as enough endpoints say. */
  readonly openChunks: readonly number[];
  /** The least funds of an asset by mint, on the word of enough endpoints: base units, without a loan. */
  readonly held: (mint: Address) => bigint;
}

/** Markers that endpoints dispute, or that a row has and the chain has not, decide nothing here. */
export function standingOf({ facts, judged: { look } }: OrderLook): OrderStanding {
  const { decision, chunks, loan, isUnclear } = facts;
  return {
    hasGo: decision === "go",
    isRefused: decision === "no_go",
    isDecided: facts.isDecided && !isUnclear,
    openChunks: chunks.filter(({ marker }) => marker === null).map(({ k }) => k),
    held: (mint) => {
      const held = look.least(mint) - (mint === SOL_MINT ? loan : 0n);
      return held > 0n ? held : 0n;
    },
  };
}
