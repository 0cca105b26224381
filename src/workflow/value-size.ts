/** Limits the size of snapshots and events: each step writes the whole context again, and its event into the history. */
import { eventToText, UnstorableValue } from "./values.ts";

/** The default of `maxValueBytes`. */
export const MAX_VALUE_BYTES = 8_000_000;

/** The most bytes that a character of JavaScript takes as UTF-8. */
const LARGEST_CHARACTER = 3;

/** Checks the JSON text of a snapshot, or of the value called `name`. @throws UnstorableValue with the path of the largest part. */
export function checkSize(text: string, most: number, name = ""): void {
  if (text.length * LARGEST_CHARACTER <= most) return;
  const bytes = Buffer.byteLength(text);
  if (bytes <= most) return;
  throw new UnstorableValue(
    heaviest(JSON.parse(text), name) || "snapshot",
    `it takes ${shown(bytes)} as JSON, and ${shown(most)} are the most (maxValueBytes of createEngine); keep what is long ` +
      "in a table or a file, and its id here",
  );
}

/** Why no step can keep the event, whatever the step makes of it; null where one can. */
export function faultOfEvent(event: object, most: number): UnstorableValue | null {
  try {
    checkSize(eventToText(event), most, "event");
    return null;
  } catch (error) {
    if (error instanceof UnstorableValue) return error;
    throw error;
  }
}

/** The path of the innermost part that takes more than half of the part around it. */
function heaviest(value: unknown, path: string): string {
  if (typeof value !== "object" || value === null) return path;
  const half = JSON.stringify(value).length / 2;
  const inner = Object.entries(value as Record<string, unknown>).find(
    ([key, each]) => !key.startsWith("$") && (JSON.stringify(each)?.length ?? 0) > half,
  );
  if (inner === undefined) return path;
  const [key, heavy] = inner;
  const place = Array.isArray(value) ? `[${key}]` : path === "" ? key : `.${key}`;
  return heaviest(heavy, `${path}${place}`);
}

const shown = (bytes: number): string => `${(bytes / 1_000_000).toPrecision(3)} MB`;
