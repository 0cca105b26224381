/** How the service is, for a load balancer or an operator's screen. Shows nothing of any account. */
import type { PaymentStorage } from "../../storage/storage.ts";
import type { KindWatching } from "../engine/index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Clock } from "../runtime.ts";

/** The answer to "how are you". */
export interface Health {
  /**
   * `ok`: everything answers and nothing waits. `degraded`: payments are taken or followed late: the chain is silent,
   * work is overdue, tasks were set aside, or watches have waited long for a look that found something out. `down`: the storage is silent, so nothing can be taken at all.
   */
  readonly status: "ok" | "degraded" | "down";
  readonly storage: "ok" | "unreachable";
  /** The newest finalized slot, null while no endpoint answers. */
  readonly ledger: { readonly slot: number; readonly endpoint: string } | null;
  /** How long the earliest due task has been waiting, in milliseconds; 0 when none is late. */
  readonly overdueMs: number;
  /** Tasks set aside because each of their holders vanished; they wait for an operator. Counted up to 100. */
  readonly deadLetters: number;
  /**
   * What this process follows on the chain, by kind of watch: how many, and how long ago, in milliseconds, the one that
   * has waited longest was looked at successfully. Empty before `start()` and after `stop()`.
   */
  readonly watches: Readonly<Record<string, KindWatching>>;
}

// A worker looks every 1.25 s and a lease lasts 15 s: work that waits longer than both has nobody who does it.
const OVERDUE_MS = 20_000;
const MOST_DEAD_LETTERS = 100;

/** Asks storage and ledger. Never rejects: what cannot be asked is what it tells. */
export async function readHealth({
  storage,
  ledger,
  clock,
  workflowKeys,
  watching,
}: {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly workflowKeys: readonly string[];
  readonly watching: () => Health["watches"];
}): Promise<Health> {
  const [stored, position] = await Promise.all([
    Promise.all([storage.nextDue(workflowKeys), storage.deadLetters(MOST_DEAD_LETTERS)]).catch(() => null),
    ledger.position().catch(() => null),
  ]);
  if (stored === null) {
    const unknown = { overdueMs: 0, deadLetters: 0, watches: watching() };
    return { status: "down", storage: "unreachable", ledger: position, ...unknown };
  }
  const [due, dead] = stored;
  const overdueMs = due === null ? 0 : Math.max(0, clock.now() - due);
  const deadLetters = dead.length;
  const watches = watching();
  const isLate =
    position === null ||
    overdueMs > OVERDUE_MS ||
    deadLetters > 0 ||
    Object.values(watches).some(({ lateMs }) => lateMs > OVERDUE_MS);
  return {
    status: isLate ? "degraded" : "ok",
    storage: "ok",
    ledger: position,
    overdueMs,
    deadLetters,
    watches,
  };
}
