/** K4, K5: the table of lengths, compared with its own sentence: every set in the order that the layout names. */
// modules: private
import { describe, expect, test } from "vitest";
import {
  isPaid,
  leavingOut,
  lengthOf,
  outcomeOf,
  type ChunkShape,
} from "../../../../src/payments/private/protocol/outcome.ts";
import type { Outcome } from "../../../../src/payments/private/protocol/terms.ts";

const later = (members: number): ChunkShape => ({ members, isFirst: false, isOnly: false });
const first = (members: number): ChunkShape => ({ members, isFirst: true, isOnly: false });
const only = (members: number): ChunkShape => ({ members, isFirst: true, isOnly: true });
const without = (...leftOut: readonly number[]): Outcome => ({ kind: "paid", leftOut });

function* choose(from: readonly number[], size: number): Generator<readonly number[]> {
  if (size === 0) yield [];
  for (const [index, one] of from.entries()) {
    if (size > 0) for (const others of choose(from.slice(index + 1), size - 1)) yield [one, ...others];
  }
}

/** The sets from length 3 on, in the words of the layout. */
function setsOf(members: number): readonly (readonly number[])[] {
  const all = Array.from({ length: members }, (_, place) => place);
  const sets: (readonly number[])[] = [];
  for (let size = 1; 2 * size <= members; size++) {
    sets.push(...choose(all, size));
    if (2 * size === members) continue;
    for (const paid of choose(all, size)) sets.push(all.filter((place) => !paid.includes(place)));
  }
  return sets;
}

describe("K4: length and outcome", () => {
  test.for([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])(
    "K4: of %i members every set but everybody has its own length, both ways",
    (members) => {
      const sets = setsOf(members);
      expect(sets).toHaveLength(2 ** members - 2);
      const wrong = sets.filter((leftOut, index) => {
        const said = outcomeOf(later(members), index + 3);
        const isSaid = said?.kind === "paid" && said.leftOut.join() === leftOut.join();
        return !isSaid || lengthOf(later(members), without(...leftOut)) !== index + 3;
      });
      expect(wrong).toEqual([]);
      expect(outcomeOf(later(members), sets.length + 3)).toBeNull();
      expect(outcomeOf(later(members), 0)).toEqual(without());
      expect(outcomeOf(later(members), 1)).toEqual({ kind: "nobody" });
    },
  );

  test("K4: the longest lengths are those that the reserve goes by", () => {
    const longest = (members: number, size: number): number =>
      Math.max(
        ...setsOf(members).flatMap((set) =>
          set.length === size ? [lengthOf(later(members), without(...set))] : [],
        ),
      );
    expect(Math.max(...setsOf(7).map((set) => lengthOf(later(7), without(...set))))).toBe(128);
    expect([1, 12, 2, 11].map((size) => longest(13, size))).toEqual([15, 28, 106, 184]);
  });

  test("K4: one left out of n is 3 … n + 2, one paid n + 3 … 2n + 2", () => {
    expect(lengthOf(first(7), without(0))).toBe(3);
    expect(lengthOf(first(7), without(6))).toBe(9);
    expect(lengthOf(later(7), without(1, 2, 3, 4, 5, 6))).toBe(10);
    expect(lengthOf(later(7), without(0, 1, 2, 3, 4, 5))).toBe(16);
  });

  test("K4: 'no member, and go' is said of chunk 0 of several alone", () => {
    expect(outcomeOf(first(3), 2)).toEqual({ kind: "emptyGo" });
    expect(lengthOf(first(3), { kind: "emptyGo" })).toBe(2);
    for (const shape of [only(3), later(3)]) {
      expect(outcomeOf(shape, 2)).toBeNull();
      expect(() => lengthOf(shape, { kind: "emptyGo" })).toThrow(RangeError);
    }
  });

  test("K4: a length that says nothing is unknown, and no set that is none has one", () => {
    for (const length of [-1, 1.5, 129, 10_485_760]) expect(outcomeOf(later(7), length)).toBeNull();
    for (const leftOut of [[0, 0], [7], [-1], [0, 1, 2, 3, 4, 5, 6]]) {
      expect(() => lengthOf(later(7), without(...leftOut))).toThrow(RangeError);
    }
  });
});

describe("K5: the fee", () => {
  test("K5: of a one-chunk order it is never taken alone: that length is unknown, and never signed", () => {
    for (const members of [2, 3, 7, 13]) {
      const recipients = Array.from({ length: members - 1 }, (_, index) => index + 1);
      const length = lengthOf(first(members), without(...recipients));
      expect(outcomeOf(only(members), length)).toBeNull();
      expect(() => lengthOf(only(members), without(...recipients))).toThrow(RangeError);
      expect(leavingOut(only(members), recipients)).toEqual({ kind: "nobody" });
    }
  });

  test("K5: a payee alone may be paid without the fee", () => {
    expect(outcomeOf(only(3), lengthOf(only(3), without(0, 1)))).toEqual(without(0, 1));
  });

  test("K5: in chunk 0 of several it may be, and with it left out, too, the order goes on", () => {
    expect(leavingOut(first(3), [2, 1])).toEqual(without(1, 2));
    expect(leavingOut(first(3), [0, 1, 2])).toEqual({ kind: "emptyGo" });
    expect(leavingOut(later(3), [0, 1, 2])).toEqual({ kind: "nobody" });
    expect(leavingOut(only(3), [0])).toEqual(without(0));
    expect([0, 1, 2].map((place) => isPaid(without(0), place))).toEqual([false, true, true]);
    expect(isPaid({ kind: "emptyGo" }, 0)).toBe(false);
  });
});

test("C14: of a chunk whose recipients are lost every length but nobody's is a go that names none", () => {
  for (const shape of [first(1), only(1), later(0)]) {
    expect(outcomeOf(shape, 1)).toEqual({ kind: "nobody" });
    for (const length of [2, 3, 99]) expect(outcomeOf(shape, length)).toEqual({ kind: "emptyGo" });
  }
});
