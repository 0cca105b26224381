/**
 * What the length of a marker says, layout 1. The proof has this table of its own, so that a mistake in the program's is no
 * mistake of the proof.
 *
 * Members of a chunk have numbers: in chunk 0 the fee is 0 and recipients follow in stored order from 1; in later chunks
 * recipients begin at 0. A length from 3 on stands for a set of members that are left out: by the smaller of left out and
 * paid, then fewer left out first, then in the lexicographic order of the smaller side (of the left out, if both are equal).
 */

/** Everybody is paid. */
export const ALL = 0;
/** Nobody is paid; of chunk 0: the order is refused as a whole. */
export const NOBODY = 1;
/** Chunk 0 of an order of several chunks: no member is paid, and the later chunks may be. */
export const EMPTY_GO = 2;
const FIRST_SET = 3;

/** A chunk as a reader of its marker sees it. */
export interface ChunkShape {
  /** The fee's included. */
  readonly members: number;
  readonly chunk: number;
  readonly chunks: number;
}

/** What a marker says. */
export type Meaning =
  | { readonly kind: "paid"; readonly leftOut: readonly number[] }
  | { readonly kind: "nobody" }
  | { readonly kind: "emptyGo" };

/** The length for members who are left out, who are not everybody. */
export function lengthOf(members: number, leftOut: readonly number[]): number {
  if (leftOut.length === 0) return ALL;
  const length = tableOf(members).lengths.get(nameOf(leftOut.toSorted((a, b) => a - b)));
  if (length === undefined) {
    throw new RangeError(`${nameOf(leftOut)} of ${members} members is no set with a length`);
  }
  return length;
}

/** What a marker says; null if no marker of such a chunk is ever so long. */
export function meaningOf(length: number, { members, chunk, chunks }: ChunkShape): Meaning | null {
  if (length === ALL) return { kind: "paid", leftOut: [] };
  if (length === NOBODY) return { kind: "nobody" };
  if (length === EMPTY_GO) return chunk === 0 && chunks > 1 ? { kind: "emptyGo" } : null;
  const leftOut = tableOf(members).sets[length - FIRST_SET];
  if (leftOut === undefined) return null;
  const isFeeAlone = leftOut.length === members - 1 && !leftOut.includes(0);
  return chunk === 0 && chunks === 1 && isFeeAlone ? null : { kind: "paid", leftOut };
}

/** Every set of left out members with a length, in the order of the lengths from 3 on. */
export function* leftOutSets(members: number): Generator<readonly number[]> {
  for (let size = 1; size * 2 <= members; size += 1) {
    yield* choices(members, size);
    if (size * 2 === members) return;
    for (const paid of choices(members, size)) {
      yield Array.from({ length: members }, (_, member) => member).filter((member) => !paid.includes(member));
    }
  }
}

function* choices(
  members: number,
  size: number,
  chosen: readonly number[] = [],
): Generator<readonly number[]> {
  if (chosen.length === size) yield chosen;
  else {
    const next = (chosen.at(-1) ?? -1) + 1;
    for (let member = next; member < members; member += 1) yield* choices(members, size, [...chosen, member]);
  }
}

interface Table {
  /** By length, less 3. */
  readonly sets: readonly (readonly number[])[];
  readonly lengths: ReadonlyMap<string, number>;
}

const tables = new Map<number, Table>();

function tableOf(members: number): Table {
  const known = tables.get(members);
  if (known !== undefined) return known;
  const sets = [...leftOutSets(members)];
  const table = { sets, lengths: new Map(sets.map((set, place) => [nameOf(set), FIRST_SET + place])) };
  tables.set(members, table);
  return table;
}

function nameOf(set: readonly number[]): string {
  return set.join(" ");
}
