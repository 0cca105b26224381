/** Rows as aligned columns, for people. */
import { inOneLine } from "./terminal-text.ts";

/** A table under its headings; the sentence when there is no row. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  nothing: string,
): string {
  if (rows.length === 0) return nothing;
  const all = [headings, ...rows.map((row) => row.map(inOneLine))];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
