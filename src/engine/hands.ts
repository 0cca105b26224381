/** The hands of this process: a commit can lease the tasks that it makes due to the process that commits it. */
import type { ClaimedTask, QueueName, TaskRecord } from "../../storage/storage.ts";

/** Places of this process that are kept for tasks while the commit that arms them is on its way. */
export interface Reservation {
  /** The tasks that have a place. */
  readonly taken: readonly TaskRecord[];
  /** The queues of the places that were free. The one task more that may be taken has the place of the task `ending`. */
  readonly free: readonly QueueName[];
  readonly ending: string | undefined;
}

export interface Hands {
  /** Leases are taken in the name of this holder. */
  readonly holder: string;
  readonly leaseMs: number;
  /** Keeps places for as many due tasks without limits as this process takes at once; the task `ending` leaves its own to one. */
  reserve(due: readonly TaskRecord[], ending: string | undefined): Reservation;
  /** The commit is durable: the ending task leaves its place, the leased tasks are begun; no more than were reserved. */
  fill(reserved: Reservation, tasks: readonly ClaimedTask[]): void;
  /** The commit was refused, or failed. */
  giveUp(reserved: Reservation): void;
  /** A task became due at this time and has no holder. */
  dueAt(time: number): void;
}
