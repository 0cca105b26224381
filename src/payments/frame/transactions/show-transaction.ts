/** Shows a transaction, at once or as soon as its status changes, for callers who would otherwise ask again and again. */
import type { TransactionBody } from "./transaction-schema.ts";
import type { Caller } from "../accounts/caller.ts";
import { ownBody, type TransactionParts } from "./read-transaction.ts";
import { parseRequest } from "../request-fields.ts";
import { transactionQuery, type TransactionQuery } from "../requests.ts";
import { isFinalStatus, type TransactionStatus } from "../tables/orders.ts";
import type { FrameStorage } from "../frame-storage.ts";
import type { CommitFeed } from "../module-engine.ts";
import type { Clock } from "../../../core/runtime.ts";

/** See `PaymentService.transaction`. */
type ShowTransaction = (
  caller: Caller,
  transactionId: string,
  options?: TransactionQuery & { readonly signal?: AbortSignal },
) => Promise<TransactionBody>;

export function showTransaction(
  deps: TransactionParts & { readonly waiters: StatusWaitList },
): ShowTransaction {
  return async (caller, transactionId, { signal, ...query } = {}) => {
    const { wait } = parseRequest(transactionQuery, query);
    const body = await ownBody(deps, caller, transactionId);
    const { status } = body;
    if (wait === 0 || isFinalStatus(status)) return body;
    const awaited = { transactionId, status, forMs: wait * 1_000 };
    await deps.waiters.changed(signal === undefined ? awaited : { ...awaited, signal });
    return ownBody(deps, caller, transactionId);
  };
}

/** Changes by other processes on the same database are seen after this time at the latest. */
const LOOK_AGAIN_MS = 1_000;

/** The awaited status, and the longest wait. */
interface AwaitedStatus {
  readonly transactionId: string;
  /** The status that it has now. */
  readonly status: TransactionStatus;
  readonly forMs: number;
  /** Ends the waiting, for instance when the caller has gone. */
  readonly signal?: AbortSignal;
}

interface Waiter {
  readonly wake: () => void;
}

export class StatusWaitList {
  readonly #storage: FrameStorage;
  readonly #clock: Clock;
  readonly #waiters = new Map<string, Set<Waiter>>();
  #isStopped = false;

  constructor(storage: FrameStorage, clock: Clock, commits: CommitFeed) {
    this.#storage = storage;
    this.#clock = clock;
    commits.subscribe(({ commit }) => {
      for (const write of commit.writes ?? []) {
        if (write.table === "transactions" && "set" in write) this.#wake(write.id);
      }
    });
  }

  /** Resolves when the status is another one, when the time is up, or when the service stops. Rejects with storage. */
  async changed({ transactionId, status, forMs, signal }: AwaitedStatus): Promise<void> {
    const until = this.#clock.now() + forMs;
    let isAwake = false;
    let sleep = new AbortController();
    const waiter: Waiter = {
      wake: () => {
        isAwake = true;
        sleep.abort();
      },
    };
    const others = this.#waiters.get(transactionId) ?? new Set();
    this.#waiters.set(transactionId, others.add(waiter));
    signal?.addEventListener("abort", waiter.wake, { once: true });
    try {
      for (;;) {
        // A change that comes while the row is being read wakes the next sleep before it begins.
        isAwake = false;
        sleep = new AbortController();
        const now = (await this.#storage.transaction(transactionId))?.transaction.status;
        const left = until - this.#clock.now();
        if (now !== status || left <= 0 || this.#isStopped || signal?.aborted === true) return;
        if (!isAwake) await this.#clock.sleep(Math.min(left, LOOK_AGAIN_MS), sleep.signal);
      }
    } finally {
      signal?.removeEventListener("abort", waiter.wake);
      others.delete(waiter);
      if (others.size === 0) this.#waiters.delete(transactionId);
    }
  }

  /** Lets everybody go, so that their answers are given before the process ends. */
  stop(): void {
    this.#isStopped = true;
    for (const id of [...this.#waiters.keys()]) this.#wake(id);
  }

  /** The service runs again. */
  start(): void {
    this.#isStopped = false;
  }

  #wake(transactionId: string): void {
    for (const waiter of this.#waiters.get(transactionId) ?? []) waiter.wake();
  }
}
