/** Waits until a transaction has a status, by requests that the service answers when the status changes. */
import type { Clock } from "../core/runtime.ts";
import type { AnswerOf, CallOptions } from "./methods.ts";

/** A transaction as `getTransaction` answers it. */
export type Transaction = AnswerOf<"getTransaction">;

/** A status of a transaction. */
type Status = Transaction["status"];

/** The status to wait for, or `final` for any end. */
export type WantedStatus = Transaction["status"] | "final";

/** Thrown by `waitFor`: the transaction has ended in another status, and the wanted one will not come. */
export class StatusNotReached extends Error {
  override readonly name = "StatusNotReached";
  readonly wanted: WantedStatus;
  /** The ended transaction; `reason` tells why. */
  readonly transaction: Transaction;

  constructor(wanted: WantedStatus, transaction: Transaction) {
    super(
      `the transaction ${transaction.transactionId} has ended as ${transaction.status} and will not be ${wanted}`,
    );
    this.wanted = wanted;
    this.transaction = transaction;
  }
}

/** Asks for the transaction; with `wait`, it is answered when the status changes or after so many seconds. */
type AskForTransaction = (
  transactionId: string,
  query: { readonly wait?: number },
  options: CallOptions,
) => Promise<Transaction>;

/** Dependencies of a wait. */
interface StatusSource {
  readonly ask: AskForTransaction;
  readonly clock: Clock;
}

/** The transaction and the status that are waited for. */
interface Awaited {
  readonly transactionId: string;
  readonly wanted: WantedStatus;
}

/** A change between two requests is seen so late at most; the service takes up to 25. */
const WAIT_SECONDS = 10;
/** A server that does not wait is not asked more often. */
const MIN_PAUSE_MS = 1_000;

/** The place of each status on its way; a status never goes back. */
const STEPS: Readonly<Record<Status, { readonly rank: number; readonly isFinal: boolean }>> = {
  pending: { rank: 0, isFinal: false },
  processing: { rank: 1, isFinal: false },
  confirmed: { rank: 2, isFinal: false },
  completed: { rank: 3, isFinal: true },
  failed: { rank: 0, isFinal: true },
  cancelled: { rank: 0, isFinal: true },
};

/** See `PaymentClient.waitFor`. */
export async function waitForStatus(
  { ask, clock }: StatusSource,
  { transactionId, wanted }: Awaited,
  options: CallOptions,
): Promise<Transaction> {
  if (wanted !== "final" && !Object.hasOwn(STEPS, wanted)) {
    throw new TypeError(`waitFor: expected "final" or ${Object.keys(STEPS).join(", ")} as the status`);
  }
  let transaction = await ask(transactionId, {}, options);
  for (;;) {
    if (isReached(transaction.status, wanted)) return transaction;
    if (isFinal(transaction.status)) throw new StatusNotReached(wanted, transaction);
    const askedAt = clock.now();
    const before = transaction.status;
    transaction = await ask(transactionId, { wait: WAIT_SECONDS }, options);
    const restMs = askedAt + MIN_PAUSE_MS - clock.now();
    if (transaction.status === before && restMs > 0) await clock.sleep(restMs, options.signal);
    options.signal?.throwIfAborted();
  }
}

function isFinal(status: Status): boolean {
  // A newer service may have a status that is not known here.
  return Object.hasOwn(STEPS, status) && STEPS[status].isFinal;
}

function isReached(status: Status, wanted: WantedStatus): boolean {
  if (wanted === "final") return isFinal(status);
  if (status === wanted) return true;
  const isPassed = Object.hasOwn(STEPS, status) && STEPS[status].rank > STEPS[wanted].rank;
  return isPassed && !STEPS[wanted].isFinal;
}
