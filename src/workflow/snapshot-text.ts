/** A chart's snapshot as it is stored: JSON text; only values that JSON would lose are written differently. */
import type { ChartSnapshot, UnbornChild } from "./chart.ts";
import { fieldsFromJson, fieldsToJson, fromJson, toJson } from "./values.ts";
import type { Writable } from "./writable.ts";

/** A snapshot with values that JSON keeps. */
type StoredSnapshot = { readonly [Field in keyof ChartSnapshot]: unknown };

/** @throws UnstorableValue naming the path of what cannot be stored, such as `context.connection`. */
export function snapshotToText(snapshot: ChartSnapshot): string {
  const { context, output, error, unborn } = snapshot;
  const stored: Writable<StoredSnapshot> = { ...snapshot, context: fieldsToJson(context, "context") };
  if (output !== undefined) stored.output = toJson(output, "output");
  if (error !== undefined) stored.error = toJson(error, "error");
  if (unborn !== undefined) stored.unborn = unborn.map(unbornToJson);
  return JSON.stringify(stored);
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
    const snapshot = JSON.parse(text) as Writable<ChartSnapshot>;
    const { context, output, error, unborn } = snapshot;
    snapshot.context = fieldsFromJson(context) as ChartSnapshot["context"];
    if (output !== undefined) snapshot.output = fromJson(output);
    if (error !== undefined) snapshot.error = fromJson(error);
    if (unborn !== undefined) snapshot.unborn = unborn.map(unbornFromJson);
    return snapshot;
  } catch (cause) {
    throw new DamagedSnapshot("the stored snapshot cannot be read: it was damaged, or edited by hand", {
      cause,
    });
  }
}
