/** Ids in order of time: what they tell, what they do not, and what comes out twice. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { derivedId, newId } from "../../src/payments/frame/ids.ts";
import { systemRandom } from "../../src/core/runtime.ts";

const anyTime = fc.integer({ min: 0, max: 2 ** 48 - 1 });

test("ids sort by the millisecond in which they were made, and none comes twice", () => {
  fc.assert(
    fc.property(anyTime, anyTime, (one, other) => {
      const [a, b] = [newId("tx", one, systemRandom), newId("tx", other, systemRandom)];
      expect(a).toMatch(/^tx_[0-9a-f]{32}$/);
      expect(a).not.toBe(b);
      expect(a.slice(0, 15) < b.slice(0, 15)).toBe(one < other);
    }),
  );
});

test("a derived id is the same each time, lies beside its parent's and belongs to its parts alone", () => {
  fc.assert(
    fc.property(anyTime, fc.string(), fc.string(), (at, part, other) => {
      const parent = newId("tx", at, systemRandom);
      const id = derivedId("evt", parent, part);
      expect(id).toMatch(/^evt_[0-9a-f]{32}$/);
      expect(id).toBe(derivedId("evt", parent, part));
      expect(id.slice(4, 16)).toBe(parent.slice(3, 15));
      expect(derivedId("evt", parent, other) === id).toBe(part === other);
      expect(derivedId("evt", newId("tx", at, systemRandom), part)).not.toBe(id);
    }),
  );
});

test("what a derived id adds to its parent's time tells nothing of the parent", () => {
  const parent = newId("tx", 1_700_000_000_000, systemRandom);
  expect(derivedId("evt", parent, "x")).not.toContain(parent.slice(15));
});
