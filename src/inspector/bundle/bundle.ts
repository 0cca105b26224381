/** Writes an instance to a file for a report: its stored data without secrets, and the shape of its chart. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { HistoryRecord, InstanceRecord, PendingTask } from "../../../storage/storage.ts";
import type { ReadChart, ChartState } from "../chart/read-chart.ts";

/** The content of a bundle. Texts are redacted. */
export interface BundleContent {
  readonly instance: InstanceRecord;
  readonly history: readonly HistoryRecord[];
  readonly tasks: readonly PendingTask[];
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

const count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
/** In milliseconds. */
const time = z.number();
const text = z.string();

/** Text that is JSON of an object, or of a state value. */
const json = text.refine(isJson);

function isJson(written: string): boolean {
  try {
    const value: unknown = JSON.parse(written);
    return typeof value === "string" || (typeof value === "object" && value !== null);
  } catch {
    return false;
  }
}

const instance = z.object({
  id: text,
  workflow: text,
  hash: text,
  version: count,
  stamp: text,
  life: text,
  parent: text.nullable(),
  status: z.enum(["active", "done"]),
  snapshot: json,
  createdAt: time,
  updatedAt: time,
});

const step = z.object({
  instance: text,
  version: count,
  stamp: text,
  at: time,
  event: json,
  value: json,
  cause: text.nullable(),
});

const task = z.object({
  id: text,
  instance: text,
  workflow: text,
  kind: z.enum(["effect", "timer", "message", "invocation"]),
  name: text,
  payload: text,
  dueAt: time,
  limits: z.array(z.object({ key: text, atMost: count })),
  crashes: count,
  isSuspect: z.boolean(),
  failures: count,
  lastError: text.nullable(),
  visibleAt: time,
  isHeld: z.boolean(),
  isParked: z.boolean(),
  priority: z.exactOptional(z.int()),
  waitsFor: z.exactOptional(
    z.union([z.object({ key: text, before: count }), z.object({ key: text, until: time })]),
  ),
  failingSince: time.nullable(),
  deadAt: time.nullable(),
});

const state: z.ZodType<ChartState> = z.object({
  id: text,
  name: text,
  kind: z.enum(["atomic", "compound", "parallel", "final", "history"]),
  isRegion: z.boolean(),
  notes: z.array(text),
  answers: z.array(text),
  initial: text.nullable(),
  status: text.nullable(),
  attention: text.nullable(),
  get states() {
    return z.array(state);
  },
});

const transition = z.object({ from: text, to: text, entered: text, event: text, label: text });

/** The shape of a bundle. */
const bundleShape = z.object({
  instance,
  history: z.array(step),
  tasks: z.array(task),
  chart: z
    .object({
      key: text,
      hash: text,
      chart: z.object({ name: text, root: state, transitions: z.array(transition) }),
    })
    .nullable(),
});
