/** Writes an instance to a file for a report: its stored data without secrets, and the shape of its chart. */
import { createHash } from "node:crypto";
import type { HistoryRecord, InstanceRecord, PendingRecords } from "../../../storage/storage.ts";
import type { ReadChart } from "../chart/read-chart.ts";
import { bundleShape } from "./bundle-shape.ts";

/** The content of a bundle. Texts are redacted. */
export interface BundleContent {
  readonly instance: InstanceRecord;
  readonly history: readonly HistoryRecord[];
  readonly pending: PendingRecords;
  /** Null where the chart was not registered. */
  readonly chart: { readonly key: string; readonly hash: string; readonly chart: ReadChart } | null;
}

const FORMAT = "paystate bundle";
const VERSION = 1;

/** A file is no bundle, or not as it was written. The message says which. */
export class BundleRefused extends Error {
  override readonly name = "BundleRefused";
}

/** The text of a bundle. */
export function bundleText(content: BundleContent): string {
  const text = JSON.stringify(content);
  return `${JSON.stringify({ format: FORMAT, version: VERSION, sha256: sumOf(text), content }, null, 1)}\n`;
}

/** Whether a text looks like a bundle at all. */
export function isBundle(text: string): boolean {
  return text.trimStart().startsWith(`{`) && text.slice(0, 200).includes(`"${FORMAT}"`);
}

/** Reads a bundle. @throws BundleRefused */
export function readBundle(text: string): BundleContent {
  try {
    return read(text);
  } catch (error) {
    // Nested more deeply than anything that was ever exported: the stack ends before the brackets do.
    if (!(error instanceof RangeError)) throw error;
    throw new BundleRefused("this bundle is nested too deeply", { cause: error });
  }
}

function read(text: string): BundleContent {
  const { format, version, sha256, content } = parsed(text);
  if (format !== FORMAT) throw new BundleRefused("this is no bundle that an inspector has exported");
  if (version !== VERSION) {
    throw new BundleRefused(
      `this bundle has the version ${String(version)} and this paystate reads ${VERSION}: upgrade paystate`,
    );
  }
  const edited = "this bundle was edited or damaged after it was exported: ask for it again";
  if (sha256 !== sumOf(JSON.stringify(content ?? null))) throw new BundleRefused(edited);
  // The checksum finds accidents only: a forger can compute it, so the schema is checked as well.
  const shaped = bundleShape.safeParse(content);
  if (!shaped.success) throw new BundleRefused(edited);
  return shaped.data;
}

interface Written {
  readonly format?: unknown;
  readonly version?: unknown;
  readonly sha256?: unknown;
  readonly content?: unknown;
}

function parsed(text: string): Written {
  try {
    return (JSON.parse(text) ?? {}) as Written;
  } catch (cause) {
    throw new BundleRefused("this bundle is cut off or damaged: ask for it again", { cause });
  }
}

/** A checksum against accidental edits. A forger can compute it too. */
function sumOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
