/**
 * What a vanished holder means, on paper: what becomes of the tasks that it had in hand. It shares no code with a storage.
 * *No innocent is ever a dead letter, and nobody waits for a stranger.*
 *
 * The first death of a holder costs nothing: what it had in hand begins again at once, side by side. What was in hand at a
 * second death within an hour is a **suspect**. A suspect that was the only one in that hand has the death counted against it,
 * and is a dead letter after `maxCrashes` of these. Where there were several, none is counted, and all are **alone** from then
 * on: while one of them is in hand, no other suspect begins. One that lives for an hour is no suspect any more, and what is no
 * suspect never waits for one.
 */

/** Two deaths that are further apart have nothing to do with each other. */
export const HOUR_MS = 3_600_000;

export type Queue = "steps" | "free";

/** A task, and what its holders' deaths have said of it. */
export interface Task {
  readonly id: string;
  readonly queue: Queue;
  /** The order in which the tasks were armed. */
  readonly seq: number;
  /** When it may begin; while it is in hand, when its lease ends. */
  readonly at: number;
  readonly holder: string | null;
  readonly leaseMs: number;
  /** Grows with every claim: who has an older one has lost the task. */
  readonly token: number;
  /** At how many deaths in a row it was in hand. */
  readonly deaths: number;
  /** When the last of them was noticed; of a suspect that has begun again since, when it did. Null without one, and after a failure. */
  readonly lastDeath: number | null;
  /** How many of them are counted against it. */
  readonly counted: number;
  readonly isAlone: boolean;
  /** Judged by the death of its holder, and in no other hand since: how many deaths were counted by that. */
  readonly missed: 0 | 1 | null;
  readonly isDead: boolean;
}

export interface Claim {
  readonly holder: string;
  readonly now: number;
  readonly leaseMs: number;
  readonly maxCrashes: number;
  readonly places: Readonly<Record<Queue, number>>;
}

/** The decisions of the rule, apart: the play puts a wrong one in the place of each. */
export const RULE = {
  isSuspect: ({ deaths, lastDeath }: Task): boolean => deaths > 1 && lastDeath !== null,

  /** The suspects of one hand, by their holder's death. */
  judged(suspects: readonly Task[]): readonly Task[] {
    if (suspects.length === 1) return suspects.map((task) => count(task, 1));
    return suspects.map((task) => ({ ...count(task, 0), isAlone: true }));
  },

  isDeadLetter: (task: Task, maxCrashes: number): boolean => task.counted >= Math.max(1, maxCrashes),

  /** Whether a suspect in hand has lived for so long that its holder's death would be a first one. */
  hasLived: ({ lastDeath }: Task, now: number): boolean => (lastDeath ?? 0) + HOUR_MS <= now,

  /** Whether a suspect may begin beside those that are in hand. */
  mayBegin: (task: Task, inHand: readonly Task[]): boolean =>
    !inHand.some((other) => other.isAlone || task.isAlone),

  /** Whether anything but a suspect may begin beside the suspects in hand. */
  isFree: (_inHand: readonly Task[]): boolean => true,

  /** What is judged by the death of a holder: all it had in hand, also what has a lease that goes on for a while. */
  hand: (tasks: readonly Task[], holder: string, _now: number): readonly Task[] =>
    tasks.filter((task) => task.holder === holder && task.missed === null),
};

export type Rule = typeof RULE;

const count = (task: Task, counted: 0 | 1): Task => ({
  ...task,
  counted: task.counted + counted,
  missed: counted,
});

/** The tasks of a storage, and the five calls by which holders share them. */
export class Deaths {
  readonly #tasks = new Map<string, Task>();
  readonly #rule: Rule;

  constructor(rule: Rule = RULE) {
    this.#rule = rule;
  }

  get tasks(): readonly Task[] {
    return [...this.#tasks.values()];
  }

  arm({ id, queue, at }: Pick<Task, "id" | "queue" | "at">): void {
    const never = { holder: null, leaseMs: 0, token: 0, missed: null, isDead: false };
    this.#put({ id, queue, at, seq: this.#tasks.size, ...never, ...INNOCENT });
  }

  /** Judges those whose holder has vanished; leases what is due, and suspects as far as they may begin. */
  claim(claim: Claim): readonly Task[] {
    const { now, maxCrashes } = claim;
    const vanished = this.#ended(now).map((task) => task.holder ?? "");
    for (const each of new Set(vanished)) this.#bury(each, now);
    for (const task of this.#ended(now)) {
      const isDead = this.#rule.isSuspect(task) && this.#rule.isDeadLetter(task, maxCrashes);
      this.#put({ ...task, holder: null, missed: isDead ? null : task.missed, isDead });
    }
    for (const task of this.tasks.filter((each) => this.#isForgiven(each, now))) {
      this.#put({ ...task, ...INNOCENT, missed: null });
    }
    const places = { ...claim.places };
    const take = (task: Task): readonly Task[] => {
      if (places[task.queue] < 1) return [];
      places[task.queue] -= 1;
      return [this.#lease(task, claim)];
    };
    const waiting = this.tasks.filter((task) => task.holder === null && !task.isDead && task.at <= now);
    const suspects = waiting.filter(this.#rule.isSuspect).toSorted(besideFirst);
    const begun = suspects.flatMap((task) =>
      this.#rule.mayBegin(task, this.#suspectsInHand(now)) ? take(task) : [],
    );
    const others = waiting.filter((task) => !this.#rule.isSuspect(task)).toSorted(earliestFirst);
    return [...begun, ...(this.#rule.isFree(this.#suspectsInHand(now)) ? others.flatMap(take) : [])];
  }

  /** What its holder has no more. What was judged, and begun by no other, it has back, and the judgement is taken back. */
  heartbeat(held: readonly Pick<Task, "id" | "token">[], by: Omit<Claim, "places" | "maxCrashes">): string[] {
    return held.filter((each) => !this.#extend(each, by)).map(({ id }) => id);
  }

  /** A task that is given back keeps what is said of it; one that failed has not ended its holder. */
  release(held: Pick<Task, "id" | "token">, { at, failed }: { at: number; failed: boolean }): boolean {
    const task = this.#held(held);
    if (task === undefined || task.isDead) return false;
    this.#put({ ...task, holder: null, at, missed: null, ...(failed ? UNSUSPECTED : {}) });
    return true;
  }

  end(held: Pick<Task, "id" | "token">): boolean {
    return this.#held(held) !== undefined && this.#tasks.delete(held.id);
  }

  #suspectsInHand(now: number): readonly Task[] {
    const held = this.tasks.filter((task) => task.holder !== null && this.#rule.isSuspect(task));
    return held.filter((task) => !this.#rule.hasLived(task, now));
  }

  #ended(now: number): readonly Task[] {
    return this.tasks.filter((task) => task.holder !== null && task.at <= now);
  }

  /** A death is one for all that was in hand: they are judged together, once. */
  #bury(holder: string, now: number): void {
    const hand = this.#rule.hand(this.tasks, holder, now).map((task) => afterDeath(task, now));
    const suspects = hand.filter(this.#rule.isSuspect);
    const judged = suspects.some((task) => task.at <= now) ? this.#rule.judged(suspects) : [];
    for (const task of judged) this.#put(task);
    for (const task of hand) {
      if (!this.#rule.isSuspect(task) && task.at <= now) this.#put(count(task, 0));
    }
  }

  /** For an hour at most a suspect waits, against which nothing was counted. */
  #isForgiven({ holder, isDead, at, counted, lastDeath }: Task, now: number): boolean {
    const isWaiting = holder === null && !isDead && at <= now;
    return isWaiting && counted === 0 && lastDeath !== null && lastDeath + HOUR_MS <= now;
  }

  #lease(task: Task, { holder, now, leaseMs }: Claim): Task {
    const lastDeath = this.#rule.isSuspect(task) ? now : task.lastDeath;
    const leased = { ...task, holder, leaseMs, at: now + leaseMs, token: task.token + 1, missed: null };
    return this.#put({ ...leased, lastDeath });
  }

  #extend(
    each: Pick<Task, "id" | "token">,
    { holder, now, leaseMs }: Omit<Claim, "places" | "maxCrashes">,
  ): boolean {
    const task = this.#held(each);
    if (task === undefined || (task.holder === null && task.missed === null)) return false;
    const kept = { ...task, holder, leaseMs, at: now + leaseMs, missed: null };
    if (task.missed === null) return this.#put(kept) === kept;
    const before = { ...kept, deaths: task.deaths - 1, counted: task.counted - task.missed };
    this.#put(before.deaths > 1 ? before : { ...before, isAlone: false });
    return true;
  }

  #held({ id, token }: Pick<Task, "id" | "token">): Task | undefined {
    const task = this.#tasks.get(id);
    return task !== undefined && token > 0 && task.token === token ? task : undefined;
  }

  #put(task: Task): Task {
    this.#tasks.set(task.id, task);
    return task;
  }
}

const UNSUSPECTED = { lastDeath: null, counted: 0, isAlone: false };
const INNOCENT = { deaths: 0, ...UNSUSPECTED };

/** Its holder's last sign of life was one lease before the end: was that within an hour of the death before? */
function afterDeath(task: Task, now: number): Task {
  const isInRow = task.lastDeath !== null && task.at - task.leaseMs - task.lastDeath < HOUR_MS;
  return {
    ...(isInRow ? task : { ...task, ...INNOCENT }),
    lastDeath: now,
    deaths: isInRow ? task.deaths + 1 : 1,
  };
}

const earliestFirst = (a: Task, b: Task): number => a.at - b.at || a.seq - b.seq;

/** Those that may begin side by side, then the least often in hand at a death, then what is quick. */
const besideFirst = (a: Task, b: Task): number =>
  Number(a.isAlone) - Number(b.isAlone) ||
  a.deaths - b.deaths ||
  Number(a.queue === "free") - Number(b.queue === "free") ||
  a.seq - b.seq;
