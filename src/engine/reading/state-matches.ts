/** Whether a chart is in a state, named by the state's path. */

/**
 * `path` is a state's key, or the keys that lead to it with dots between them: `paying`, `paying.card`. In a chart with
 * parallel regions each region's states are reached through the key of the region.
 */
export function stateMatches(value: unknown, path: string): boolean {
  if (value === path) return true;
  if (typeof value !== "object" || value === null) return false;
  // A key may hold a dot itself, so each key is compared as a whole.
  return Object.entries(value).some(
    ([key, inner]) =>
      key === path || (path.startsWith(`${key}.`) && stateMatches(inner, path.slice(key.length + 1))),
  );
}
