/** How places are shared out among groups that keep theirs, in the numbers that are promised of 64. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { FreePlaces } from "../../storage/share-places.ts";

const PLACES = 64;

/** More tasks of a group than there are places. */
const muchOf = (group: number): { laneGroup: string }[] =>
  Array.from({ length: PLACES + 1 }, () => ({ laneGroup: String(group) }));

/** What so many groups get that all have much to do from the start. */
function together(count: number): number[] {
  const groups = Array.from({ length: count }, (_, group) => group);
  const given = new FreePlaces({ laned: PLACES }).give(groups.flatMap(muchOf));
  return groups.map((group) => given.filter(({ laneGroup }) => laneGroup === String(group)).length);
}

/** A group that has so many tasks to do. */
interface Coming {
  readonly group: number;
  readonly tasks: number;
}

/** What groups hold that come in this order, some of them more than once, and keep all that they get. */
function inOrder(order: readonly Coming[]): Map<string, number> {
  const held = new Map<string, number>();
  for (const { group, tasks } of order) {
    const groups = [...held].map(([name, count]) => ({ group: name, count }));
    const laned = PLACES - sum(held.values());
    for (const { laneGroup } of new FreePlaces({ laned, groups }).give(muchOf(group).slice(0, tasks))) {
      held.set(laneGroup, (held.get(laneGroup) ?? 0) + 1);
    }
  }
  return held;
}

const sum = (counts: Iterable<number>): number => [...counts].reduce((all, count) => all + count, 0);

test.each([
  [1, [22]],
  [2, [16, 16]],
  [10, [6, 6, 6, 6, 5, 5, 5, 5, 5, 5]],
])("of 64 places %i groups with much to do get %j", (count, places) => {
  expect(together(count)).toEqual(places);
});

test("G6: nine groups never hold all 64 places, in whatever order they come", () => {
  const coming = fc.record({ group: fc.integer({ min: 1, max: 9 }), tasks: fc.integer({ min: 1, max: 64 }) });
  fc.assert(
    fc.property(fc.array(coming, { maxLength: 60 }), (order) => {
      const held = inOrder(order);
      expect(sum(held.values())).toBeLessThan(PLACES);
      // One that comes new has a place at once.
      expect(inOrder([...order, { group: 10, tasks: 1 }]).get("10")).toBe(1);
    }),
  );
});

test("ten groups that come one after the other hold all 64, and the eleventh gets the first that is free again", () => {
  const held = inOrder(Array.from({ length: 10 }, (_, group) => ({ group, tasks: PLACES })));
  expect([...held.values()]).toEqual([22, 14, 10, 6, 4, 3, 2, 1, 1, 1]);
  const groups = [...held].map(([group, count]) => ({ group, count: group === "0" ? count - 1 : count }));
  const due = [...Array.from({ length: 10 }, (_, group) => muchOf(group)).flat(), ...muchOf(10)];
  expect(new FreePlaces({ laned: 0, groups }).give(due)).toEqual([]);
  expect(new FreePlaces({ laned: 1, groups }).give(due)).toEqual([{ laneGroup: "10" }]);
});
