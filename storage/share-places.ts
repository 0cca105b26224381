/** Shares out a holder's places for tasks with a lane, so that a few groups of lanes never take them all. Pure; every adapter claims by it. */
import type { ClaimRequest } from "./storage.ts";

/** Who asks for how many places, and what its groups hold already. */
export type PlaceRequest = Pick<ClaimRequest, "laned" | "groups">;

/** A due task with a lane that has a slot for it. */
export interface LanedTask {
  /** Null where its lane is in no group. */
  readonly laneGroup: string | null;
}

/**
 * A group gets a place only while more than so many are free for each that it holds. With two of them the last two places go
 * to groups that hold none, and it takes ten groups to hold all of 64.
 */
const FREE_PER_HELD = 2;

/**
 * The places of one claim.
 *
 * @example
 * ```ts
 * import { FreePlaces } from "paystate/storage";
 *
 * const due = ["a", "a", "b"].map((laneGroup) => ({ laneGroup }));
 * const given = new FreePlaces({ laned: 3, groups: [{ group: "a", count: 1 }] }).give(due);
 * console.log(given.map(({ laneGroup }) => laneGroup)); // [ 'b' ]
 * ```
 */
export class FreePlaces {
  #free: number;
  readonly #held: Map<string, number>;

  constructor({ laned, groups = [] }: PlaceRequest) {
    this.#free = laned;
    this.#held = new Map(groups.map(({ group, count }) => [group, count]));
  }

  /** How many of these places a group would get if no other group took one; a lane without a group, all of them. */
  most(group: string | null): number {
    if (group === null) return this.#free;
    const beyond = this.#free - FREE_PER_HELD * this.#heldBy(group);
    return Math.max(0, Math.ceil(beyond / (FREE_PER_HELD + 1)));
  }

  /** Whether the group holds no place, and so comes before all that hold one. */
  isNew(group: string): boolean {
    return this.#heldBy(group) === 0;
  }

  /** The tasks that get a place, of those given earliest first. A lane without a group comes before all groups that hold one. */
  give<T extends LanedTask>(tasks: readonly T[]): T[] {
    const next = new Map<string, number>();
    const turns = tasks.map((task) => {
      const { laneGroup } = task;
      if (laneGroup === null) return { task, turn: 0 };
      const turn = next.get(laneGroup) ?? this.#heldBy(laneGroup);
      next.set(laneGroup, turn + 1);
      return { task, turn };
    });
    // Sorting is stable: of one turn the earliest comes first.
    const inTurn = turns.toSorted((one, other) => one.turn - other.turn);
    return inTurn.flatMap(({ task }) => (this.#take(task.laneGroup) ? [task] : []));
  }

  #heldBy(group: string): number {
    return this.#held.get(group) ?? 0;
  }

  #take(group: string | null): boolean {
    const held = group === null ? 0 : this.#heldBy(group);
    if (isFull(held, this.#free)) return false;
    this.#free -= 1;
    if (group !== null) this.#held.set(group, held + 1);
    return true;
  }
}

/**
 * The groups that get no place of these.
 *
 * @example
 * ```ts
 * import { fullGroups } from "paystate/storage";
 *
 * console.log(fullGroups({ laned: 10, groups: [{ group: "a", count: 5 }] })); // [ 'a' ]
 * ```
 */
export function fullGroups({ laned, groups = [] }: PlaceRequest): string[] {
  return groups.filter(({ count }) => isFull(count, laned)).map(({ group }) => group);
}

function isFull(held: number, free: number): boolean {
  return FREE_PER_HELD * held >= free;
}
