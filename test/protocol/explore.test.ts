/** The search itself: it finds the shortest way, sees who cannot end, and cuts nothing off unsaid. */
import { expect, test } from "vitest";
import { CAN_END, explore, packed, type Step, type System } from "./explore.ts";

/** A number that is doubled or lessened by one, and never leaves 0 to 20. */
function counter(parts: Partial<System<number>> = {}): System<number> {
  return {
    start: 3,
    *steps(n): Generator<Step<number>> {
      if (n * 2 <= 20) yield { act: "double", state: n * 2, by: "world" };
      if (n > 0) yield { act: "less", state: n - 1, by: "service" };
    },
    key: (n) => packed([n]),
    broken: () => null,
    ...parts,
  };
}

test("looks at every state once", () => {
  expect(explore(counter())).toEqual({ states: 21, broken: null, isWhole: true });
});

test("shows the shortest way to a state that breaks a promise", () => {
  const found = explore(counter({ broken: (n) => (n === 10 ? "never ten" : null) }));
  expect(found.broken).toEqual({ promise: "never ten", acts: ["double", "less", "double"] });
  expect(found.isWhole).toBe(false);
});

test("sees a start that breaks a promise", () => {
  expect(explore(counter({ broken: () => "nothing" })).broken).toEqual({ promise: "nothing", acts: [] });
});

test("the service's own steps lead to an end, or the nearest state is shown from which they do not", () => {
  expect(explore(counter({ isEnd: (n) => n === 0 })).broken).toBeNull();
  const onlyFive = explore(counter({ isEnd: (n) => n === 5 }));
  expect(onlyFive.broken).toEqual({ promise: CAN_END, acts: [] });
  const atLeastThree = explore(counter({ isEnd: (n) => n === 3 }));
  expect(atLeastThree.broken).toEqual({ promise: CAN_END, acts: ["less"] });
});

test("a search that is cut off says so", () => {
  expect(explore(counter(), 5)).toMatchObject({ broken: null, isWhole: false });
  expect(explore(counter(), 21)).toMatchObject({ states: 21, isWhole: true });
});

test("a key tells all numbers apart that it takes, and takes no others", () => {
  const numbers = [-128, -1, 0, 1, 127, 128, 65_407];
  expect(new Set(numbers.map((number) => packed([number]))).size).toBe(numbers.length);
  for (const number of [-129, 65_408, Number.NaN]) expect(() => packed([number])).toThrow(RangeError);
});
