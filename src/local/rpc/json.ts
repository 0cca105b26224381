/** JSON with whole numbers beyond 2^53, which Solana's answers contain and `JSON.stringify` refuses. */

/** Writes `value` as JSON; a bigint becomes a number with all its digits, `undefined` fields are left out. */
export function toJson(value: unknown): string {
  if (typeof value === "bigint") return value.toString();
  if (value === null || typeof value !== "object") return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map(toJson).join(",")}]`;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${toJson(field)}`).join(",")}}`;
}
