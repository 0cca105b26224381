/** Lists the differences between two texts of a chart, each with its path. */
import { FUNCTION } from "./chart-text.ts";

const MAX_LINE = 240;
const MAX_VALUE = 60;

/** Short lines, one for each difference, in the order of the chart; at least one where the texts differ. */
export function chartDifferences(before: string, after: string): readonly string[] {
  if (before === after) return [];
  const found = [...between("", JSON.parse(before), JSON.parse(after))];
  return found.length > 0
    ? found.map((line) => shortened(line, MAX_LINE))
    : ["its parts are written in another order"];
}

function* between(path: string, before: unknown, after: unknown): Generator<string> {
  if (hasParts(before) && hasParts(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      yield* between(path === "" ? key : `${path}.${key}`, before[key], after[key]);
    }
  } else if (before === undefined) yield `${path} is new: ${textOf(after)}`;
  else if (after === undefined) yield `${path} is gone: ${textOf(before)}`;
  else if (before !== after) yield `${path} was ${textOf(before)}, is ${textOf(after)}`;
}

/** Lists too, whose items are compared by their places. */
const hasParts = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** JSON, in which a function is told by its type. */
function textOf(value: unknown): string {
  const text = JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "string" && part.startsWith(FUNCTION)
      ? part.slice(FUNCTION.length).replace("xstate.", "") || "a function"
      : part,
  );
  return shortened(text, MAX_VALUE);
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
