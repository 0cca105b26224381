/** JSON for what holds bigint amounts: each is written as its decimal digits and an `n`. */

/** The value as JSON text. Its strings must not look like amounts. */
export function writeJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? `${each}n` : each));
}

export function readJson(text: string): unknown {
  return JSON.parse(text, (_, each: unknown) =>
    typeof each === "string" && /^\d+n$/.test(each) ? BigInt(each.slice(0, -1)) : each,
  );
}
