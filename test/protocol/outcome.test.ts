/** K4: the lengths of markers and the sets of members that they stand for, one to one. */
import { describe, expect, test } from "vitest";
import { QUICK } from "../kit/thorough.ts";
import { EMPTY_GO, leftOutSets, lengthOf, meaningOf, NOBODY } from "./outcome.ts";

/** A table of lengths: the proof's own, and the program's beside it. */
const TABLES = [["the proof's", { lengthOf, meaningOf }]] as const;

/** How many members are tried: where there is time, all numbers up to what a chunk ever has, and two more. */
const MEMBERS = QUICK ? [2, 3, 7, 13] : Array.from({ length: 14 }, (_, place) => place + 2);

const LATER_CHUNK = { chunk: 1, chunks: 2 };

describe.each(TABLES)("%s table", (_, table) => {
  test("K4: every set but everybody left out has one length, and every length says its set", () => {
    for (const members of MEMBERS) {
      const all = [[], ...leftOutSets(members)];
      const wrong: (readonly number[])[] = [];
      expect(all.length).toBe(2 ** members - 1);
      for (const leftOut of all) {
        const meaning = table.meaningOf(table.lengthOf(members, leftOut), { ...LATER_CHUNK, members });
        if (meaning?.kind !== "paid" || meaning.leftOut.join() !== leftOut.join()) wrong.push(leftOut);
      }
      expect(wrong).toEqual([]);
    }
  });

  test("K4: a length that no set has means nothing", () => {
    for (const length of [-1, 2 ** 7 + 1, 10_240, Number.NaN]) {
      expect(table.meaningOf(length, { ...LATER_CHUNK, members: 7 })).toBeNull();
    }
    expect(() => table.lengthOf(2, [0, 1])).toThrow(RangeError);
  });

  test("K4: length 1 is nobody; 2 only of chunk 0 of several chunks: no member, and go", () => {
    const shapes = [
      { chunk: 0, chunks: 1 },
      { chunk: 0, chunks: 2 },
      { chunk: 1, chunks: 2 },
    ];
    const meanings = (length: number): unknown[] =>
      shapes.map((shape) => table.meaningOf(length, { ...shape, members: 4 }));
    expect(meanings(NOBODY)).toEqual([{ kind: "nobody" }, { kind: "nobody" }, { kind: "nobody" }]);
    expect(meanings(EMPTY_GO)).toEqual([null, { kind: "emptyGo" }, null]);
  });

  test("K5: in an order of one chunk no marker says that the fee alone was paid", () => {
    const length = table.lengthOf(4, [1, 2, 3]);
    expect(table.meaningOf(length, { members: 4, chunk: 0, chunks: 1 })).toBeNull();
    expect(table.meaningOf(length, { members: 4, chunk: 0, chunks: 2 })).toEqual({
      kind: "paid",
      leftOut: [1, 2, 3],
    });
  });

  test("K4: one left out has the lengths from 3 on, then one paid, then two left out", () => {
    expect(table.lengthOf(7, [0])).toBe(3);
    expect(table.lengthOf(7, [6])).toBe(9);
    expect(table.lengthOf(7, [1, 2, 3, 4, 5, 6])).toBe(10);
    expect(table.lengthOf(7, [0, 1, 2, 3, 4, 5])).toBe(16);
    expect(table.lengthOf(7, [0, 1])).toBe(17);
  });

  test("K4: tokens, 7 members a chunk, never need more than 128 bytes; SOL, 13 members, if 2 are on either side up to 184", () => {
    expect(longest(7, () => true)).toBe(128);
    expect(longest(13, (leftOut) => leftOut === 1)).toBe(15);
    expect(longest(13, (leftOut) => leftOut === 12)).toBe(28);
    expect(longest(13, (leftOut) => leftOut === 2)).toBe(106);
    expect(longest(13, (leftOut) => leftOut === 11)).toBe(184);
  });
});

function longest(members: number, counts: (leftOut: number) => boolean): number {
  const sets = [...leftOutSets(members)].filter((leftOut) => counts(leftOut.length));
  return Math.max(...sets.map((leftOut) => lengthOf(members, leftOut)));
}
