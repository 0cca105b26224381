/** Search fields as a workflow declares them. */

/** By the name of a search field: its value in a context. */
export type SearchOptions = Readonly<Record<string, (of: { readonly context: never }) => unknown>>;

const MAX_FIELDS = 16;
const FIELD = /^[A-Za-z][A-Za-z0-9_]{0,47}$/;

export function searchProblems(search: SearchOptions): string[] {
  const names = Object.keys(search);
  return [
    ...(names.length > MAX_FIELDS ? [`search: expected ${MAX_FIELDS} fields at most`] : []),
    ...names
      .filter((name) => !FIELD.test(name))
      .map((name) => `search.${name}: expected a name of up to 48 letters, digits and _, a letter first`),
    ...names
      .filter((name) => typeof search[name] !== "function")
      .map((name) => `search.${name}: expected a function of the context`),
  ];
}
