/** What the tests of the models expect of a search. */
import { expect } from "vitest";
import { explore, type System } from "./explore.ts";

/** The break that is possible where a rule is left out. */
export interface Break<Rule extends string, Scenario> {
  readonly without: Rule;
  readonly in: Scenario;
  readonly promise: string;
  /** The shortest way to it, with an arrow between its steps. */
  readonly acts: string;
}

/** Every state was looked at: none breaks a promise, and each can come to an end. */
export function expectHolds<State>(system: System<State>): void {
  expect(explore(system)).toMatchObject({ broken: null, isWhole: true });
}

/** The break is found, by this shortest way. */
export function expectBroken<State>(
  system: System<State>,
  { promise, acts }: Pick<Break<string, unknown>, "promise" | "acts">,
): void {
  const { broken } = explore(system);
  expect({ promise: broken?.promise, acts: broken?.acts.join(" → ") }).toEqual({ promise, acts });
}
