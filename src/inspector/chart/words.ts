/** The parts of a transition in the words that a person reads on a chart. */

/** An event type: delays, ends of actors and of states are told in words, all others by their name. */
export function eventWords(type: string, delay: (written: string) => string): string {
  if (type === "") return "always";
  if (type === "*") return "any event";
  const after = /^xstate\.after\.([^.]+)\./.exec(type)?.[1];
  if (after !== undefined) return delay(after);
  const end = /^xstate\.(done|error)\.(actor|state)\.(.+)$/.exec(type);
  if (end === null) return type;
  const [, how = "", what = "", id = ""] = end;
  const name = what === "state" ? lastOf(id) : actorName(id);
  return how === "done" ? `${name} is done` : `${name} fails`;
}

const lastOf = (path: string): string => path.split(".").at(-1) ?? path;

/** XState names an actor without an id by its place among the actors of its state, such as `0.trip.flight`. */
function actorName(id: string): string {
  const [, place, path] = /^(\d+)\.(.+)$/.exec(id) ?? [];
  if (place === undefined || path === undefined) return id;
  return place === "0" ? lastOf(path) : `${lastOf(path)} (${Number(place) + 1})`;
}

const UNITS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
  [1, "ms"],
];

/** A duration in milliseconds in its two largest units, such as `1 h 30 min`. */
export function durationWords(ms: number): string {
  let left = Math.max(0, Math.round(ms));
  const parts: string[] = [];
  for (const [size, unit] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.length === 0 ? "0 s" : parts.join(" ");
}

/** A delay as the chart writes it, a number or a name, with its length where the chart knows it beforehand. */
export function delayWords(written: string, implementation: unknown): string {
  if (/^\d+$/.test(written)) return `after ${durationWords(Number(written))}`;
  const length = typeof implementation === "number" ? ` (${durationWords(implementation)})` : "";
  return `after ${written}${length}`;
}

/** An action of a chart, as XState reads it. */
interface WrittenAction {
  readonly type?: string;
  readonly params?: unknown;
  readonly event?: unknown;
  readonly src?: unknown;
}

/** An action, or nothing for those that only keep the books: `assign`, and the timers behind `after`. */
export function actionWords(action: unknown): string[] {
  if (typeof action === "string") return [action];
  const { type, params, event, src } = action as WrittenAction;
  if (type === undefined) return typeof action === "function" ? [action.name || "inline action"] : [];
  switch (type) {
    case "xstate.raise":
      return eventType(event).startsWith("xstate.after.") ? [] : [`raise ${eventType(event)}`];
    case "xstate.sendTo":
      return [`send ${eventType(event)}`];
    case "xstate.emit":
      return [`emit ${eventType(event)}`];
    case "xstate.spawnChild":
      return [`spawn ${typeof src === "string" ? src : "actor"}`];
    default:
      return type.startsWith("xstate.") ? [] : [`${type}${fixedParams(params)}`];
  }
}

/** Parameters that are written in the chart; those that are computed are left out. */
function fixedParams(params: unknown): string {
  if (typeof params !== "object" || params === null) return "";
  const values = Object.values(params).map(String).join(", ");
  return values === "" ? "" : `(${values})`;
}

function eventType(event: unknown): string {
  const { type } = (event ?? {}) as { readonly type?: unknown };
  return typeof type === "string" ? type : "event";
}

/** A guard in brackets, or nothing. */
export function guardWords(guard: unknown): string[] {
  if (guard === undefined || guard === null) return [];
  if (typeof guard === "string") return [`[${guard}]`];
  const { type, name } = guard as { readonly type?: unknown; readonly name?: unknown };
  const word = [type, name].find((each) => typeof each === "string" && each !== "");
  return [`[${typeof word === "string" ? word : "condition"}]`];
}
