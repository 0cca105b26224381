/** Which places a seed draws. */
import { expect, test } from "vitest";
import { drawnBy, identityOf, roomOf } from "./draw.ts";
import { placesIn } from "./places.ts";

const comparisons = (count: number): string =>
  Array.from({ length: count }, (_, index) => `a${index} < b;`).join("\n");

const PLACES = [
  ...placesIn("src/payments/private/large.ts", comparisons(300)),
  ...placesIn("src/payments/private/small.ts", comparisons(40)),
  ...placesIn("src/engine/queue.ts", comparisons(30)),
  ...placesIn("storage/sqlite/deep/er/rows.ts", comparisons(20)),
];

test("a room is the folder of a source, three levels deep at most", () => {
  expect(roomOf("src/payments/private/large.ts")).toBe("src/payments/private");
  expect(roomOf("storage/limits.ts")).toBe("storage");
  expect(roomOf("storage/sqlite/deep/er/rows.ts")).toBe("storage/sqlite/deep");
});

test("every room is drawn from equally often, and in it every file, however large it is", () => {
  const counts = new Map<string, number>();
  for (const { file } of drawnBy(7, PLACES).slice(0, 60)) counts.set(file, (counts.get(file) ?? 0) + 1);
  expect(Object.fromEntries(counts)).toEqual({
    "src/payments/private/large.ts": 10,
    "src/payments/private/small.ts": 10,
    "src/engine/queue.ts": 20,
    "storage/sqlite/deep/er/rows.ts": 20,
  });
});

test("a room that has no more places leaves the rest of the draw to the others", () => {
  const drawn = drawnBy(7, PLACES);
  expect(drawn).toHaveLength(PLACES.length);
  expect(new Set(drawn.map(identityOf)).size).toBe(PLACES.length);
});

test("one seed draws the same places in the same order, another seed others", () => {
  expect(drawnBy(7, PLACES.toReversed())).toEqual(drawnBy(7, PLACES));
  expect(drawnBy(8, PLACES).slice(0, 60)).not.toEqual(drawnBy(7, PLACES).slice(0, 60));
});

test("a place is drawn as before where its file has changed elsewhere", () => {
  const [before] = placesIn("src/x.ts", "if (a < b) c();");
  const [other, after] = placesIn("src/x.ts", "// More.\nd > e;\n\nif (a <\n  b) c();");
  if (before === undefined || after === undefined || other === undefined) throw new Error("there are places");
  expect(identityOf(after)).toBe(identityOf(before));
  expect(identityOf(other)).not.toBe(identityOf(before));
});

test("of two alike in one file each has a name of its own", () => {
  expect(new Set(placesIn("src/x.ts", "a < b; a < b;").map(identityOf)).size).toBe(2);
});
