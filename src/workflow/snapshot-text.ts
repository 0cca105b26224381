/** A chart's snapshot as it is stored: JSON text; only values that JSON would lose are written differently. */
import type { ChartSnapshot, UnbornChild } from "./chart.ts";
import { fieldsFromJson, fieldsToJson, fromJson, toJson } from "./values.ts";

/** @throws UnstorableValue naming the path of what cannot be stored, such as `context.connection`. */
export function snapshotToText(snapshot: ChartSnapshot): string {
  const { context, output, error, unborn } = snapshot;
  return JSON.stringify({
    ...snapshot,
    context: fieldsToJson(context, "context"),
    ...(output === undefined ? {} : { output: toJson(output, "output") }),
    ...(error === undefined ? {} : { error: toJson(error, "error") }),
    ...(unborn === undefined ? {} : { unborn: unborn.map(unbornToJson) }),
  });
}

function unbornToJson(child: UnbornChild): object {
  const { id, input } = child;
  return { ...child, ...(input === undefined ? {} : { input: toJson(input, `input of "${id}"`) }) };
}

function unbornFromJson(child: UnbornChild): UnbornChild {
  return { ...child, input: fromJson(child.input) };
}

/** A stored text that `snapshotToText` cannot have written: the database was damaged, or edited by hand. */
export class DamagedSnapshot extends Error {
  override readonly name = "DamagedSnapshot";
}

/** The snapshot that `snapshotToText` was given, as a copy of its own. @throws DamagedSnapshot */
export function snapshotFromText(text: string): ChartSnapshot {
  try {
    const stored = JSON.parse(text) as ChartSnapshot;
    const { context, output, error, unborn } = stored;
    return {
      ...stored,
      context: fieldsFromJson(context) as ChartSnapshot["context"],
      ...(output === undefined ? {} : { output: fromJson(output) }),
      ...(error === undefined ? {} : { error: fromJson(error) }),
      ...(unborn === undefined ? {} : { unborn: unborn.map(unbornFromJson) }),
    };
  } catch (cause) {
    throw new DamagedSnapshot("the stored snapshot cannot be read: it was damaged, or edited by hand", {
      cause,
    });
  }
}
