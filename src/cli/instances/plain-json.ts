/**
 * Formats stored values as one line of JSON for people and programs: values that JSON lacks become their nearest JSON
 * form.
 */

/** Amounts become decimal text, sets lists, maps lists of pairs, bytes hexadecimal, errors their name and message. */
export function plainJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => plain(each)) ?? "null";
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Map || value instanceof Set) return [...value];
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (value instanceof Error) return { name: value.name, message: value.message };
  return value;
}
