/** The options `keep` and `archive` of an engine. */
// modules: retention
import { z } from "zod";
import type { HistoryRecord, InstanceRecord } from "../../storage/storage.ts";
import { durationOption, type Duration } from "../core/duration.ts";
import { functionOption } from "../core/options.ts";
import type { Archive } from "./retention/archiving.ts";

/** A stored instance with all its steps. Every field is a text or a number, so JSON keeps the instance whole. */
export interface ArchivedInstance extends InstanceRecord {
  /** Oldest first. */
  readonly history: readonly HistoryRecord[];
}

/** How long an engine keeps what has ended. */
export interface RetentionOptions {
  /** How long ended instances are kept: an hour at least, and as long as another instance needs them. Default: forever. */
  readonly keep?: { readonly finished: Duration };
  /**
   * Gets the instances about to be removed, at least once each, and must have put them somewhere when it resolves. While it
   * throws, or takes longer than a minute, nothing is removed: logged once, and shown by `retention()`. Default: they are gone.
   */
  readonly archive?: Archive<ArchivedInstance>;
}

/** From an hour to a hundred years. */
const KEEP_RANGE = { least: 3_600_000, most: 36_500 * 86_400_000 };

export const retentionOptions = {
  keep: z.strictObject({ finished: durationOption(KEEP_RANGE) }).optional(),
  archive: functionOption<Archive<ArchivedInstance>>().optional(),
};

export function checkArchive(
  { keep, archive }: { readonly keep?: unknown; readonly archive?: unknown },
  context: z.RefinementCtx,
): void {
  if (archive === undefined || keep !== undefined) return;
  const message = 'nothing is archived without keep: say how long, such as keep: { finished: "90d" }';
  context.addIssue({ code: "custom", path: ["archive"], message });
}
