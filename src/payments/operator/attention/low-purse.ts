/** Finds purses that will soon be empty, before anything stops for lack of money. */
import type { PurseBody, PurseWatch } from "../../purses/purses.ts";

/** A matter that only an operator can end, by sending money there. */
interface LowPurseMatter {
  readonly kind: "low_purse";
  readonly id: string;
  /** Milliseconds since the Unix epoch. */
  readonly since: number;
  readonly message: string;
  readonly actions: readonly [];
}

/**
 * Finds them, the oldest first. Reads the chain once in five minutes at most; while the chain is silent, reports the
 * last reading.
 */
export function lowPurses(
  watch: Pick<PurseWatch, "low">,
): (limit: number) => Promise<readonly LowPurseMatter[]> {
  return async (limit) => {
    const low = await watch.low();
    return low.slice(0, limit).map(({ body, since }) => ({
      kind: "low_purse",
      id: `low_purse:${body.purse} ${body.asset}`,
      since,
      message: sentenceOf(body),
      actions: [],
    }));
  };
}

const CONSEQUENCES: Readonly<Record<PurseBody["purse"], string>> = {
  sponsor: "with less, new private orders are refused",
  desk: "with less, swaps are refused",
  treasury: "nothing depends on it",
};

function sentenceOf({ purse, address, asset, balance, reserved, lowBelow, lastsUntil }: PurseBody): string {
  const lasts = lastsUntil === null ? "" : `; at the rate of the last day it lasts until ${lastsUntil}`;
  return (
    `the ${purse} has ${balance} ${asset}, ${reserved} of it reserved: less than ${lowBelow ?? "0"} is free${lasts}. ` +
    `Send ${asset} to ${address}; ${CONSEQUENCES[purse]}`
  );
}
