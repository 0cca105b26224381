/** An act of an operator: who acts and why, its refusal, and the audit log in the order of the commits. */
import { z } from "zod";
import type { ActContext } from "../intake/rules.ts";
import type { FrameWrite, FrameStorage } from "../frame-storage.ts";
import type { Clock, Random } from "../../../core/runtime.ts";
import { newId } from "../ids.ts";
import { shownName, shownWords } from "../shown-words.ts";
import { isoTime } from "../iso-time.ts";

/** The command was refused and nothing was changed. The message names what is wrong and what would be right. */
export class OperatorRefused extends Error {
  override readonly name = "OperatorRefused";
}

/** Every act that the audit log knows. */
export type ActName =
  | "pause"
  | "resume"
  | "suspend"
  | "restore"
  | "set_limits"
  | "lower_witnesses"
  | "restore_witnesses"
  | "suspend_endpoint"
  | "restore_endpoint"
  | "retry"
  | "drop"
  | "write_off"
  | "settle"
  | "hold"
  | "release"
  | "decline"
  | "foreclose"
  | "conclude"
  | "refund_to"
  | "collect"
  | "foreign"
  | "request_decline"
  | "request_foreclose"
  | "request_conclude"
  | "request_refund_to"
  | "request_foreign"
  | "recover"
  | "request_erase"
  | "begin_erase"
  | "erase"
  | "request_cancel"
  | "request_redelivery"
  | "test_webhook";

/** An act in full; `what` is kept as JSON and must hold no secret. */
export interface Act {
  readonly by: ActContext;
  readonly act: ActName;
  readonly what: Readonly<Record<string, unknown>>;
}

const actedBy = z.strictObject({ actor: shownName, reason: shownWords });

/** Checks who acts and why. Throws `OperatorRefused` that names the field. */
export function readActContext(by: unknown): ActContext {
  return readCommand(actedBy, by);
}

/** Checks what an operator gave. Throws `OperatorRefused` with a sentence for each field that is wrong. */
export function readCommand<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const sentences = read.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`,
  );
  throw new OperatorRefused(sentences.join("; "));
}

/** Makes the row of the audit log for one act; it belongs into the commit that carries the act out. */
export type WriteAct = (act: Act) => FrameWrite;

interface AuditRuntime {
  readonly clock: Clock;
  readonly random: Random;
}

export function createWriteAct({ clock, random }: AuditRuntime): WriteAct {
  return ({ by: { actor, reason }, act, what }) => {
    const at = clock.now();
    const id = newId("audit", at, random);
    return { table: "audit", insert: { id, at, actor, reason, act, what: JSON.stringify(what) } };
  };
}

/** An act, as the log shows it. */
export interface AuditEntry {
  readonly id: string;
  /** ISO 8601 in UTC. */
  readonly at: string;
  readonly actor: string;
  readonly reason: string;
  /** The kind of act, such as `pause`. */
  readonly act: string;
  /** The details of the act. Amounts are decimal strings in whole units. */
  readonly what: Readonly<Record<string, unknown>>;
}

/** The requested part of the log. */
export interface AuditPage {
  /** The id of the last entry that is known; the first entry comes first when it is left out. */
  readonly after?: string | undefined;
  /** 1 to 1,000, default 100. */
  readonly limit?: number | undefined;
}

const auditPage = z.strictObject({
  after: z.string().optional(),
  limit: z.number().int().min(1).max(1_000).default(100),
});

/** A page of the log, oldest first. Throws `OperatorRefused` when no entry has the id `after`. */
export async function readAuditLog(
  storage: Pick<FrameStorage, "audit">,
  page: AuditPage = {},
): Promise<readonly AuditEntry[]> {
  const { after = null, limit } = readCommand(auditPage, page);
  const rows = await storage.audit(after, limit);
  if (rows === null) throw new OperatorRefused(`after: the audit log has no entry ${after}`);
  return rows.map(({ id, at, actor, reason, act, what }) => ({
    id,
    at: isoTime(at),
    actor,
    reason,
    act,
    what: JSON.parse(what) as AuditEntry["what"],
  }));
}
