/** Shares out a holder's places for tasks with a lane, so that no group of lanes takes those that others need. Pure; every adapter claims by it. */
import type { ClaimRequest } from "./storage.ts";

/** Who asks for how many places, and what its groups hold already. */
export type PlaceRequest = Pick<ClaimRequest, "laned" | "groups">;

/** A due task with a lane that has a slot for it. */
interface Candidate {
  /** Null where its lane is in no group. */
  readonly laneGroup: string | null;
}

/** The places of one claim. */
export class FreePlaces {
  #free: number;
  readonly #share: number;
  readonly #held: Map<string, number>;

  constructor({ laned, groups }: PlaceRequest) {
    this.#free = laned;
    this.#share = groups?.share ?? laned;
    this.#held = new Map(groups?.held.map(({ group, count }) => [group, count]));
  }

  /** How many of these places a group could get if no other group took one: as many as stay free beside it. */
  most(group: string | null): number {
    return group === null ? this.#free : Math.max(0, Math.ceil((this.#free - this.#heldBy(group)) / 2));
  }

  /** Whether the group could get a place whatever the others take before it. */
  isNew(group: string): boolean {
    return this.#heldBy(group) === 0;
  }

  /**
   * The tasks that get a place, of those given earliest first. Groups below their share come first, then those above it; a
   * group never gets more places than it leaves free.
   */
  give<T extends Candidate>(tasks: readonly T[]): T[] {
    const turns = new Map<string, number>();
    const below: T[] = [];
    const above: T[] = [];
    for (const task of tasks) {
      const { laneGroup } = task;
      const turn = laneGroup === null ? 0 : (turns.get(laneGroup) ?? this.#heldBy(laneGroup));
      if (laneGroup !== null) turns.set(laneGroup, turn + 1);
      (laneGroup === null || turn < this.#share ? below : above).push(task);
    }
    return [...below, ...above].filter(({ laneGroup }) => this.#take(laneGroup));
  }

  #heldBy(group: string): number {
    return this.#held.get(group) ?? 0;
  }

  #take(group: string | null): boolean {
    const held = group === null ? 0 : this.#heldBy(group);
    if (held >= this.#free) return false;
    this.#free -= 1;
    if (group !== null) this.#held.set(group, held + 1);
    return true;
  }
}

/** The groups that get no place of these. */
export function fullGroups({ laned, groups }: PlaceRequest): string[] {
  const held = groups?.held ?? [];
  return held.filter(({ count }) => count >= laned).map(({ group }) => group);
}
