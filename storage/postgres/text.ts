/**
 * Writes statements as text, with their values inside. Several statements with values are one message and one
 * transaction: pg sends parameters with single statements only, at the price of a round trip for each statement.
 */
import { type SqlValue, type Statement, withPlaces } from "../sql/statement.ts";

/** PostgreSQL keeps no NUL in a text. */
export const NUL = "\u0000";

/** Safe under every setting of the server. @throws TypeError when PostgreSQL cannot keep it. */
export function literal(value: SqlValue): string {
  if (value === null) return "null";
  if (typeof value === "number") return numeral(value);
  if (typeof value !== "string") return `'\\x${Buffer.from(value).toString("hex")}'::bytea`;
  assertText(value);
  const quoted = `'${value.replaceAll("'", "''")}'`;
  return value.includes("\\") ? ` E${quoted.replaceAll("\\", "\\\\")}` : quoted;
}

/** Whether PostgreSQL can keep the value. A text with NUL stands in no row. */
export function canKeep(value: unknown): boolean {
  return typeof value !== "string" || !value.includes(NUL);
}

export function assertText(value: string): void {
  if (!canKeep(value)) throw new TypeError("PostgreSQL keeps no text with a NUL character: remove it");
}

/** Without a bound is as far as a bigint goes. */
function numeral(value: number): string {
  if (value === Infinity) return "9223372036854775807";
  if (value === -Infinity) return "(-9223372036854775807)";
  if (!Number.isFinite(value)) throw new TypeError("a value is not a number");
  return value < 0 ? `(${value})` : String(value);
}

/** How JSON writes half of a pair of code units that has no other half, and NUL; where a backslash is itself not escaped. */
const HALF = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;
const NUL_IN_JSON = /(?<!\\)(?:\\\\)*\\u0000/;

/** A value as JSON that PostgreSQL reads. @throws TypeError when PostgreSQL cannot keep it. */
export function jsonText(value: unknown): string {
  const json = JSON.stringify(value);
  if (json.includes("\\u0000") && NUL_IN_JSON.test(json)) assertText(NUL);
  // As in every other encoding of such a text.
  return json.includes("\\ud") ? json.replace(HALF, "$1\\ufffd") : json;
}

/** The same as an argument of a function: between dollar signs and a tag that the text has not. */
export function jsonLiteral(value: unknown): string {
  const json = jsonText(value);
  let tag = "$json$";
  for (let number = 0; json.includes(tag); number += 1) tag = `$json${number}$`;
  return `${tag}${json}${tag}`;
}

export function bound<Values extends object>({ text }: Statement<Values, unknown>, values: Values): string {
  const given = values as Readonly<Record<string, SqlValue | undefined>>;
  return withPlaces(text, (name) => literal(given[name] ?? null));
}
