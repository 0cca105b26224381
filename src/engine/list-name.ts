/** Names lists of instances, so that a list takes acts as an instance does, and puts their filters into addresses. */
import type { FieldValues } from "../workflow/instance-finder.ts";

export interface ListFilter {
  /** `name@version`. */
  readonly workflow: string;
  readonly where: FieldValues;
  /** Null for any. */
  readonly state: string | null;
}

const PREFIX = "each:";
const STATE = "state";
const FIELD = "where.";

/** The name under which a list takes acts, beside instances, which take them under their ids. */
export function listName({ workflow, ...filters }: ListFilter): string {
  const query = new URLSearchParams(listedIn(filters)).toString();
  return `${PREFIX}${workflow}${query === "" ? "" : `?${query}`}`;
}

/** The list of such a name; null for any other name. */
export function listNamed(name: string): ListFilter | null {
  if (!name.startsWith(PREFIX)) return null;
  const [workflow = "", query = ""] = name.slice(PREFIX.length).split("?");
  return { workflow, ...listedBy(new URLSearchParams(query)) };
}

/** The filters of a list as they stand in an address. */
export function listedBy(params: URLSearchParams): Omit<ListFilter, "workflow"> {
  const fields = [...params].filter(([name, value]) => name.startsWith(FIELD) && value !== "");
  const where = Object.fromEntries(fields.map(([name, value]) => [name.slice(FIELD.length), value]));
  const state = params.get(STATE) ?? "";
  return { where, state: state === "" ? null : state };
}

/** The same filters, for an address. */
export const listedIn = ({ where, state }: Omit<ListFilter, "workflow">): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(where).map(([field, value]) => [FIELD + field, value])),
  ...(state === null ? {} : { [STATE]: state }),
});
