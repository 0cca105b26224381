/** The places of this process for tasks: each is taken by a task in hand, kept for a commit on its way, or free. */
import type { ClaimedTask, QueueName, TaskRecord } from "../../../storage/storage.ts";
import { QUEUES, queueOf } from "../../../storage/task-queues.ts";
import type { HeldTaskList } from "./held-task-list.ts";

/** How much a worker takes at once, and how often it looks. */
export interface WorkerLimits {
  /** Effects and promises without limits in hand at once; as many timers and messages have places of their own. */
  readonly slots: number;
  /** Effects and promises with limits in hand at once. */
  readonly limitedSlots: number;
  /** The pause between looks for tasks that other processes made due, in milliseconds. */
  readonly pollMs: number;
  /** A task against which so many deaths of its processes are counted is a dead letter. */
  readonly maxCrashes: number;
}

/** Places reserved for tasks until the commit that arms them is done. */
export interface Reservation {
  readonly taken: readonly TaskRecord[];
  /** The queues of the reserved free places. One further taken task may use the place of the task `ending`. */
  readonly free: readonly QueueName[];
  readonly ending: string | undefined;
  /** Before the commit was asked for. */
  readonly at: number;
}

export class QueueSemaphore {
  readonly #limits: Readonly<Record<QueueName, number>>;
  readonly #inHand: HeldTaskList;
  /** Free places that are kept for commits on their way. */
  readonly #reserved: Record<QueueName, number> = { steps: 0, free: 0, limited: 0 };
  /** Queues of which due tasks may be waiting in the storage for a place here. */
  readonly #crowded = new Set<QueueName>();

  constructor({ slots, limitedSlots }: Pick<WorkerLimits, "slots" | "limitedSlots">, inHand: HeldTaskList) {
    // No slow effect takes the place of a timer or a message, nor one with limits that of one without.
    this.#limits = { steps: slots, free: slots, limited: limitedSlots };
    this.#inHand = inHand;
  }

  get free(): Readonly<Record<QueueName, number>> {
    return { steps: this.#free("steps"), free: this.#free("free"), limited: this.#free("limited") };
  }

  get hasReserved(): boolean {
    return QUEUES.some((queue) => this.#reserved[queue] > 0);
  }

  /** A claim for as many tasks of each queue as there were free places, `asked`, found these. */
  claimed(asked: Readonly<Record<QueueName, number>>, found: readonly ClaimedTask[]): void {
    for (const queue of QUEUES) {
      const count = found.filter((task) => queueOf(task) === queue).length;
      if (count >= asked[queue]) this.#crowded.add(queue);
      else this.#crowded.delete(queue);
    }
  }

  reserve(due: readonly TaskRecord[], ending: string | undefined, at: number): Reservation {
    // A task leaves its place to a following task of the same queue, unless due tasks may be waiting in the storage.
    let inherited = due.length === 0 ? undefined : this.#inHand.queueOf(ending);
    const taken: TaskRecord[] = [];
    const free: QueueName[] = [];
    for (const task of due) {
      const queue = queueOf(task);
      if (queue === inherited && !this.#crowded.has(queue)) {
        inherited = undefined;
      } else if (this.#free(queue) > 0) {
        this.#reserved[queue] += 1;
        free.push(queue);
      } else {
        this.#crowded.add(queue);
        continue;
      }
      taken.push(task);
    }
    return { taken, free, ending, at };
  }

  release({ free }: Reservation): void {
    for (const queue of free) this.#reserved[queue] -= 1;
  }

  #free(queue: QueueName): number {
    return Math.max(0, this.#limits[queue] - this.#reserved[queue] - this.#inHand.taken[queue]);
  }
}
