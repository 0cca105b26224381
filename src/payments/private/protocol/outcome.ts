/**
 * The table of lengths (K4): what a marker's length says of its chunk, both ways. 0 is everybody and 1 is nobody; 2 is
 * chunk 0's "no member, and go" in an order of several chunks. From 3 on stands every other set: by the size of the smaller
 * side, fewer left out first; then in lexicographic order of the smaller side; the left out where both are equal.
 */
import type { Outcome } from "./terms.ts";

/** The keys of the table. */
export interface ChunkShape {
  /** All members; the fee is member 0 of the first chunk. */
  readonly members: number;
  readonly isFirst: boolean;
  /** Whether the order has no other chunk. */
  readonly isOnly: boolean;
}

/** The length by which a chunk is given up; chunk 0's is the no-go. */
export const NOBODY = 1;
const EMPTY_GO = 2;
const FIRST_SET = 3;

/** The length of an outcome. Throws `RangeError` for one that is never signed, such as the fee alone. */
export function lengthOf(shape: ChunkShape, outcome: Outcome): number {
  if (outcome.kind === "nobody") return NOBODY;
  if (outcome.kind === "emptyGo" && shape.isFirst && !shape.isOnly) return EMPTY_GO;
  const leftOut = outcome.kind === "paid" ? outcome.leftOut.toSorted((one, other) => one - other) : [];
  const length = outcome.kind === "paid" ? lengthOfSet(shape, leftOut) : null;
  const said = length === null ? null : outcomeOf(shape, length);
  if (length === null || said?.kind !== "paid" || said.leftOut.join() !== leftOut.join()) {
    throw new RangeError(
      `no marker of ${shape.members} members says ${outcome.kind} without ${leftOut.join(", ")}`,
    );
  }
  return length;
}

/**
 * The meaning of a length; null for one that nobody ever signs. If the recipients of a chunk are lost, every length except
 * the one for nobody is a go, and names no payees.
 */
export function outcomeOf(shape: ChunkShape, length: number): Outcome | null {
  if (length === 0) return { kind: "paid", leftOut: [] };
  if (length === NOBODY) return { kind: "nobody" };
  if (shape.members === (shape.isFirst ? 1 : 0)) return { kind: "emptyGo" };
  if (length === EMPTY_GO) return shape.isFirst && !shape.isOnly ? { kind: "emptyGo" } : null;
  const block = blocksOf(shape.members).find(({ from, sets }) => length >= from && length < from + sets);
  if (block === undefined) return null;
  const set = setOf(length - block.from, shape.members, block.size);
  const leftOut = block.names === "leftOut" ? set : othersOf(set, shape.members);
  const isFeeAlone = shape.isFirst && leftOut.length === shape.members - 1 && !leftOut.includes(0);
  return isFeeAlone && shape.isOnly ? null : { kind: "paid", leftOut };
}

/** The outcome that leaves out these members: nobody, if no recipient is left of the only chunk or of a later one. */
export function leavingOut(shape: ChunkShape, places: readonly number[]): Outcome {
  const paid = othersOf(places, shape.members);
  const isAnybody = paid.some((place) => place > 0 || !shape.isFirst);
  if (!isAnybody && (!shape.isFirst || shape.isOnly)) return { kind: "nobody" };
  return paid.length === 0 ? { kind: "emptyGo" } : { kind: "paid", leftOut: othersOf(paid, shape.members) };
}

/** Whether an outcome pays a member. */
export function isPaid(outcome: Outcome, place: number): boolean {
  return outcome.kind === "paid" && !outcome.leftOut.includes(place);
}

function lengthOfSet({ members }: ChunkShape, leftOut: readonly number[]): number | null {
  if (leftOut.length === 0) return 0;
  const paid = othersOf(leftOut, members);
  const [names, set] = leftOut.length <= paid.length ? ["leftOut", leftOut] : ["paid", paid];
  const block = blocksOf(members).find((each) => each.names === names && each.size === set.length);
  return block === undefined ? null : block.from + rankOf(set, members);
}

/** The lengths of all sets of one size, first the sets named by their omitted members. */
function blocksOf(members: number): readonly { names: string; size: number; from: number; sets: number }[] {
  const blocks = [];
  let from = FIRST_SET;
  for (let size = 1; 2 * size <= members; size++) {
    const sets = choose(members, size);
    for (const names of 2 * size === members ? ["leftOut"] : ["leftOut", "paid"]) {
      blocks.push({ names, size, from, sets });
      from += sets;
    }
  }
  return blocks;
}

function othersOf(places: readonly number[], members: number): readonly number[] {
  return Array.from({ length: members }, (_, place) => place).filter((place) => !places.includes(place));
}

/** How many sets of the same size come before this one, in lexicographic order. */
function rankOf(set: readonly number[], members: number): number {
  let rank = 0;
  let next = 0;
  for (const [index, place] of set.entries()) {
    for (; next < place; next++) rank += choose(members - next - 1, set.length - index - 1);
    next = place + 1;
  }
  return rank;
}

function setOf(rank: number, members: number, size: number): readonly number[] {
  const set: number[] = [];
  let before = rank;
  for (let place = 0; set.length < size; place++) {
    const sets = choose(members - place - 1, size - set.length - 1);
    if (before < sets) set.push(place);
    else before -= sets;
  }
  return set;
}

function choose(from: number, size: number): number {
  let sets = 1;
  for (let taken = 1; taken <= size; taken++) sets = (sets * (from - taken + 1)) / taken;
  return sets;
}
