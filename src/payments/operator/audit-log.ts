/** Reads the audit log: every act of an operator, in the order of their commits. */
import { z } from "zod";
import type { PaymentStorage } from "../payment-storage.ts";
import { isoTime } from "../iso-time.ts";
import { readCommand } from "./act.ts";
import { OperatorRefused } from "./operator-refused.ts";

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
  storage: Pick<PaymentStorage, "audit">,
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
