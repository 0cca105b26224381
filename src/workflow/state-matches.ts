/** Tells whether a chart is in a state, named by the state's path, and which states it has. */
import type { AnyStateNode } from "xstate";

/** `path` is the keys to a state with dots between them, as `paying.card`. States of a region lie behind the key of the region. */
export function stateMatches(value: unknown, path: string): boolean {
  if (value === path) return true;
  if (typeof value !== "object" || value === null) return false;
  // A key may hold a dot itself, so each key is compared as a whole.
  return Object.entries(value).some(
    ([key, inner]) =>
      key === path || (path.startsWith(`${key}.`) && stateMatches(inner, path.slice(key.length + 1))),
  );
}

/** The paths of the states that a chart can be in. */
export function statesOf({ states }: Pick<AnyStateNode, "states">): string[] {
  return Object.values<AnyStateNode>(states)
    .filter(({ type }) => type !== "history")
    .flatMap((node) => [node.key, ...statesOf(node).map((path) => `${node.key}.${path}`)]);
}
