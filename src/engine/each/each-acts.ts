/** Acts of viewers on all instances of a list: send an event, stop, retry, each as a durable job. */
import type { EventObject } from "xstate";
import { RETRY, STOP } from "../../workflow/chart.ts";
import { ActRefused, type OfferedAct } from "../inspected-engine.ts";
import type { SearchValues } from "../../workflow/search-fields.ts";
import type { AnyWorkflow } from "../../workflow/workflow.ts";
import type { GivenOrder } from "./each-commands.ts";

export interface ListFilter {
  /** `name@version`. */
  readonly workflow: string;
  readonly where: SearchValues;
  /** Null for any. */
  readonly state: string | null;
}

const PREFIX = "each:";
const STATE = "state";
const FIELD = "where.";

/** The name under which a list takes acts, beside instances, which take them under their ids. */
export function eachName({ workflow, ...filters }: ListFilter): string {
  const query = new URLSearchParams(listedIn(filters)).toString();
  return `${PREFIX}${workflow}${query === "" ? "" : `?${query}`}`;
}

/** The list of such a name; null for any other name. */
export function eachNamed(name: string): ListFilter | null {
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

const SEND: OfferedAct = {
  key: "send",
  on: "list",
  label: "Send an event to all of this list",
  consequence:
    "A job hands the event to each active instance of the list, page by page. One that has left the list when the event comes takes nothing.",
  takesEvent: true,
};

const STOP_ALL: OfferedAct = {
  key: "stop",
  on: "list",
  label: "Stop all of this list",
  consequence:
    "A job ends each active instance of the list as stopped, with its timers, invocations, watches and children. This cannot be undone.",
};

const RETRY_ALL: OfferedAct = {
  key: "retry",
  on: "list",
  label: "Retry what fails in this list",
  consequence: "A job makes the failing tasks and the dead letters of each instance of the list due now.",
};

export const EACH_OFFERS: readonly OfferedAct[] = [SEND, STOP_ALL, RETRY_ALL];

interface ActOnEachParts {
  readonly begin: (order: GivenOrder) => Promise<string>;
  readonly event: (text: string) => EventObject;
}

/** Begins the job of an act, and says where it is followed. @throws ActRefused */
export async function actOnEach(
  { begin, event }: ActOnEachParts,
  order: Omit<GivenOrder, "event"> & { readonly workflow: AnyWorkflow },
  act: { readonly key: string; readonly event: string },
): Promise<string> {
  const told = act.key === STOP_ALL.key ? STOP : act.key === RETRY_ALL.key ? RETRY : event(act.event);
  try {
    return `The job ${await begin({ ...order, event: told })} has begun: as an instance of its own it tells how far it is.`;
  } catch (error) {
    // A state or a search field that the chart does not have.
    throw error instanceof TypeError ? new ActRefused(error.message) : error;
  }
}
