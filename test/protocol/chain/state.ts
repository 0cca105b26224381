/** The chain and what was told of it, as one state of the search. */
import { packed } from "../explore.ts";

/** The length of a marker that does not stand, and the slot of none. */
export const NONE = -1;

/** What the chain holds for an order. */
export interface Chain {
  /** The length of each marker, by slot. */
  readonly markers: readonly number[];
  readonly balance: number;
  /** How many of the scenario's deposits have come. */
  readonly deposits: number;
  /** How often each recipient was paid. */
  readonly paid: readonly number[];
  readonly fees: number;
  readonly toSender: number;
  readonly elsewhere: number;
  /** All that was ever approved to go elsewhere. */
  readonly approved: number;
  /** Each may be signed by any copy for ever. */
  readonly approvals: readonly Approval[];
  /** Which redirects' markers stand, by bit. */
  readonly redirects: number;
  readonly stolen: number;
  /** The slot whose marker the thief has made. */
  readonly forged: number;
}

/** A sum that may go elsewhere, under the marker of that number. */
export interface Approval {
  readonly redirect: number;
  readonly sum: number;
}

/** The chain as it is now and as far as it is final, and what was told for ever. */
export interface World {
  readonly now: Chain;
  /** `now` itself, unless the last transaction may still vanish. */
  readonly final: Chain;
  /** By bit: the recipients who were told paid, and those who were told unpaid. */
  readonly toldPaid: number;
  readonly toldUnpaid: number;
  /** Whether the chunks that were not decided were given up without a marker. */
  readonly isGivenUp: boolean;
}

/** Before anything has happened. */
export function emptyWorld(slots: number, recipients: number): World {
  const empty: Chain = {
    markers: Array.from({ length: slots }, () => NONE),
    balance: 0,
    deposits: 0,
    paid: Array.from({ length: recipients }, () => 0),
    fees: 0,
    toSender: 0,
    elsewhere: 0,
    approved: 0,
    approvals: [],
    redirects: 0,
    stolen: 0,
    forged: NONE,
  };
  return { now: empty, final: empty, toldPaid: 0, toldUnpaid: 0, isGivenUp: false };
}

/** Tells worlds of one scenario apart. */
export function worldKey({ now, final, toldPaid, toldUnpaid, isGivenUp }: World): string {
  const numbers = [toldPaid, toldUnpaid, isGivenUp ? 1 : 0];
  addChain(numbers, final);
  if (now !== final) addChain(numbers, now);
  return packed(numbers);
}

function addChain(numbers: number[], chain: Chain): void {
  for (const length of chain.markers) numbers.push(length);
  for (const times of chain.paid) numbers.push(times);
  numbers.push(chain.balance, chain.deposits, chain.fees, chain.toSender, chain.elsewhere, chain.stolen);
  numbers.push(chain.approved, chain.redirects, chain.forged, chain.approvals.length);
  for (const { redirect, sum } of chain.approvals) numbers.push(redirect, sum);
}

/** The same change of a list's one place. */
export function withPlace(list: readonly number[], place: number, value: number): number[] {
  return list.map((old, at) => (at === place ? value : old));
}

/** Whether the bit of a recipient or a redirect is set. */
export function hasBit(bits: number, bit: number): boolean {
  return ((bits >> bit) & 1) === 1;
}
