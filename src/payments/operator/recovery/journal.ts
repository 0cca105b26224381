/** The journal of private orders outside of the database, for instance in a file: each order before its address is handed out. */
import { PaymentError } from "../../../errors.ts";
import type { Clock } from "../../../runtime.ts";
import type { CreatedOrderBody } from "../../private/accept-order.ts";
import type { AcceptHandler } from "../../quotes/checked-request.ts";
import { callHost } from "../../host-parts.ts";
import { open, readFile } from "node:fs/promises";
import { z } from "zod";
import { OperatorRefused } from "../act.ts";

/** An entry that restores a deposit address, together with the master secret. The entry itself is no secret. */
export interface RecoveryEntry {
  /** The transaction's id. */
  readonly id: string;
  /** The version of the master secret that the address is derived from. */
  readonly masterVersion: number;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
}

/**
 * Keeps an entry where the database's loss does not reach it, and resolves once it is durable. It is awaited before a
 * deposit address is handed out; where it rejects, or takes longer than ten seconds, the order is refused with
 * `ROUTING_UNAVAILABLE` upstream and nothing of it is kept. An entry may be of an order that was not taken after all.
 */
export type RecoveryJournal = (entry: RecoveryEntry) => Promise<void>;

const CALLBACK_MS = 10_000;
/** Seconds after which ROUTING_UNAVAILABLE advises a retry. */
const RETRY_SECONDS = 30;

interface JournalParts {
  readonly journal: RecoveryJournal;
  /** The version of the master secret that new addresses are derived from. */
  readonly masterVersion: number;
  readonly clock: Clock;
}

/** Accepts orders as `accept` does, and records each right before the commit that takes it. */
export function journaled(
  accept: AcceptHandler<CreatedOrderBody>,
  journaling: JournalParts,
): AcceptHandler<CreatedOrderBody> {
  return async (order) => {
    const { body, commit } = await accept(order);
    const { masterVersion } = journaling;
    const entry = { id: body.transactionId, masterVersion, createdAt: Date.parse(body.createdAt) };
    return {
      body,
      async commit(writes) {
        await record(journaling, entry);
        return commit(writes);
      },
    };
  };
}

/** Throws `ROUTING_UNAVAILABLE` unless the host has recorded the entry in time. */
async function record({ journal, clock }: JournalParts, entry: RecoveryEntry): Promise<void> {
  try {
    await callHost(clock, { name: "recovery", deadlineMs: CALLBACK_MS, call: () => journal(entry) });
  } catch (cause) {
    const details = { reason: "upstream", retryAfter: RETRY_SECONDS } as const;
    throw new PaymentError("ROUTING_UNAVAILABLE", details, { cause });
  }
}

/**
 * A journal for one machine: `recovery: recoveryFile("/backup/orders.jsonl")`. Put the file on a different disk than
 * the database, or copy it away as it grows. A new file gets mode 0600. Several processes may append to one file: each
 * line is a single write.
 *
 * @example
 * ```ts
 * import { readRecoveryFile, recoveryFile } from "paystate";
 *
 * const recovery = recoveryFile("orders.jsonl"); // the option `recovery` of `createPaymentService`
 * await recovery({ id: "tx_1", masterVersion: 1, createdAt: Date.now() }); // the service does this for each order
 * console.log((await readRecoveryFile("orders.jsonl")).length); // 1
 * ```
 */
export function recoveryFile(path: string): RecoveryJournal {
  return async ({ id, masterVersion, createdAt }) => {
    const file = await open(path, "a", 0o600);
    try {
      // The leading newline keeps the entry readable after a line that a crash has cut short.
      await file.appendFile(`\n${JSON.stringify({ id, masterVersion, createdAt })}\n`);
      await file.datasync();
    } finally {
      await file.close();
    }
  };
}

const entryLine = z.object({
  id: z.string(),
  masterVersion: z.number().int().min(1),
  createdAt: z.number().int().min(0),
});

/**
 * The orders of a file, as `recoveryFile` has written them or as plain ids, one in a line. Empty lines are left out, and so
 * are entries that a crash has torn: no address is handed out before its whole entry is on the disk. Throws `OperatorRefused` that names the first line which is neither.
 *
 * @example
 * ```ts
 * import { writeFile } from "node:fs/promises";
 * import { readRecoveryFile } from "paystate";
 *
 * await writeFile("ids.txt", "tx_1\ntx_2\n");
 * const orders = await readRecoveryFile("ids.txt"); // for `service.operator.recover`
 * console.log(orders.join(" ")); // tx_1 tx_2
 * ```
 */
export async function readRecoveryFile(path: string): Promise<readonly (string | RecoveryEntry)[]> {
  const text = await readFile(path, "utf8");
  return text.split("\n").flatMap((line, index): (string | RecoveryEntry)[] => {
    const trimmed = line.trim();
    if (trimmed === "") return [];
    if (!trimmed.startsWith("{")) return [trimmed];
    const read = entryOf(trimmed);
    if (read !== null) return [read];
    const isTorn = !trimmed.endsWith("}");
    if (isTorn) return [];
    throw new OperatorRefused(
      `${path}: line ${index + 1} is neither an id nor an entry of a recovery journal`,
    );
  });
}

function entryOf(line: string): RecoveryEntry | null {
  try {
    const read = entryLine.safeParse(JSON.parse(line));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}
