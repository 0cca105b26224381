/** Stored values as a page shows them: times, state values, and JSON without secrets. */
import { ActorAddress } from "../workflow/actor-address.ts";
import { fromJson } from "../workflow/values.ts";
import { cleanJson, type SecretFilter } from "./clean-json.ts";
import { html, type Html } from "./html.ts";

export type { SecretFilter } from "./clean-json.ts";

/** A moment that has been, in UTC. The page's script adds how long ago it was. */
export function moment(at: number): Html {
  return html`<time datetime="${isoDate(at) ?? ""}" data-at="${at}">${wordedTime(at)}</time>`;
}

/** A moment that something is due at. The page's script counts down to it. */
export function dueMoment(at: number): Html {
  return html`<time datetime="${isoDate(at) ?? ""}" data-due="${at}">${wordedTime(at)}</time>`;
}

// The largest time that JavaScript knows.
const LAST_TIME = 8.64e15;

/** A stored time in ISO 8601; null for a number beyond the last date, which a task may be due at. */
export function isoDate(at: number): string | null {
  return Math.abs(at) <= LAST_TIME ? new Date(at).toISOString() : null;
}

function wordedTime(at: number): string {
  return (
    isoDate(at)
      ?.replace("T", " ")
      .replace(/\.\d+Z$/, " UTC") ?? "never"
  );
}

/** A state value such as `{"paying":"charging"}` as `paying.charging`; parallel states are joined by `+`. */
export function stateWords(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "unknown";
  return Object.entries(value as Readonly<Record<string, unknown>>)
    .map(([name, inner]) => {
      const within = stateWords(inner);
      const isMany = typeof inner === "object" && inner !== null && Object.keys(inner).length > 1;
      return within === "" ? name : `${name}.${isMany ? `(${within})` : within}`;
    })
    .join(" + ");
}

// A page is made again after each commit: what takes long to clean, and long to read, is told by its length.
const MAX_SHOWN = 64 * 1024;

/** The text with references of actors as JSON has them, where what holds them is plain. */
function withActors(text: string): string {
  if (!text.includes('["Actor",')) return text;
  return JSON.stringify(JSON.parse(text), (_, value: unknown) => {
    const read = fromJson(value);
    return read !== value && isJsonWithActors(read) ? (JSON.parse(JSON.stringify(read)) as unknown) : value;
  });
}

function isJsonWithActors(value: unknown): boolean {
  if (value === undefined || typeof value === "bigint" || Object.is(value, -0)) return false;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null || value instanceof ActorAddress) return true;
  const kind: unknown = Object.getPrototypeOf(value);
  return (
    (kind === Object.prototype || kind === Array.prototype) && Object.values(value).every(isJsonWithActors)
  );
}

/** Stored JSON text on several lines. A value under a telling name and what looks like a secret are left out. */
export function shownJson(text: string, redact: SecretFilter): string {
  if (text.length > MAX_SHOWN) return `${text.length} characters, too many to be shown here`;
  try {
    return JSON.stringify(cleanJson(withActors(text), redact), null, 2);
  } catch {
    return redact(text);
  }
}

/** Names a row of a list, so that a changing page keeps equal rows. Holds no sign that means anything in HTML. */
export function rowKey(kind: string, id: string | number): string {
  return `${kind}-${encodeURIComponent(String(id).replaceAll(/[\uD800-\uDFFF]/g, "?"))}`;
}
