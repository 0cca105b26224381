/** The rows that say when each lane can next give a task, kept up to date with every change of its tasks. */
import type { Kysely, Selectable } from "kysely";
import type { LaneRow, Schema } from "../sql/schema.ts";
import { laneStatements, taskStatements } from "../sql/task-statements.ts";
import { FreePlaces } from "../share-places.ts";
import type { ClaimRequest, Lane, NarrowedLane } from "../storage.ts";
import { checkedNarrow, earliestFirst } from "../stored-task.ts";
import type { Connection, PreparedAll } from "./connection.ts";

type TaskRow = Selectable<Schema["tasks"]>;

/** So many lanes more than are needed are looked at before one looks from group to group. */
const LOOK_AHEAD = 128;
/** At first so few, where one is needed: mostly it is among them. */
const SHORT_LOOK = 8;

/** In no group. */
const UNGROUPED = "";

export class Lanes {
  readonly #lanes: PreparedAll<ReturnType<typeof laneStatements>>;
  readonly #tasks: PreparedAll<ReturnType<typeof taskStatements>>;

  constructor(connection: Connection, db: Kysely<Schema>) {
    this.#lanes = connection.prepareAll(laneStatements(db));
    this.#tasks = connection.prepareAll(taskStatements(db));
  }

  /** Makes sure the lane has its row, this cap and this group; `settle` it afterwards. */
  open({ key: lane, cap, group }: Lane, workflow: string, nextAt: number): void {
    const laneGroup = group ?? UNGROUPED;
    if (this.#isOpen({ lane, workflow, cap, laneGroup })) return;
    this.#lanes.open.run({ lane, workflow, cap, laneGroup, nextAt });
    this.#lanes.recap.run({ lane, cap });
    const isRegrouped = this.#lanes.regroup.run({ lane, laneGroup }) > 0;
    // Claims judge by the group of the task, and look for due lanes by that of the lane.
    if (isRegrouped) this.#lanes.regroupTasks.run({ lane, laneGroup: group ?? null });
  }

  /** Whether there is nothing to do for `open`, as for all tasks but the first of a lane that others wait in. */
  #isOpen({ lane, workflow, cap, laneGroup }: Omit<LaneRow, "nextAt">): boolean {
    const rows = this.#lanes.of.all({ lane });
    const isSame = rows.every((row) => row.cap === cap && row.laneGroup === laneGroup);
    return isSame && rows.some((row) => row.workflow === workflow);
  }

  /** Makes sure that a lane which is open has a row of this workflow too, with its cap and group; `settle` it afterwards. */
  enter(lane: string, workflow: string): void {
    this.#lanes.enter.run({ lane, workflow });
  }

  /** Changes how many tasks the lane gives at once; `settle` it afterwards. */
  narrow(narrowed: NarrowedLane): void {
    const { lane, cap } = checkedNarrow(narrowed);
    if (cap === null) this.#lanes.widen.run({ lane });
    else this.#lanes.narrow.run({ lane, cap });
  }

  /** Brings the rows of lanes whose tasks have changed in line with them: a few seeks in one statement each. */
  settle(changed: ReadonlySet<string | null>): void {
    for (const lane of changed) if (lane !== null) this.#settle(lane);
  }

  #settle(lane: string): void {
    const rows = this.#lanes.standing.all({ lane });
    const [first] = rows;
    if (first === undefined) return;
    const cap = Math.min(first.cap, first.narrowedTo ?? first.cap);
    const slotAt = (first.held ?? 0) < cap ? -Infinity : this.#slotAt(lane, cap);
    for (const { workflow, nextAt, firstAt } of rows) {
      if (firstAt === null) {
        this.#lanes.close.run({ lane, workflow });
        continue;
      }
      const dueAt = Math.max(firstAt, slotAt);
      if (dueAt !== nextAt) this.#lanes.schedule.run({ lane, workflow, nextAt: dueAt });
    }
  }

  /** When a full lane has a slot again. */
  #slotAt(lane: string, cap: number): number {
    return this.#tasks.nextSlot.get({ lane, others: cap - 1 })?.at ?? -Infinity;
  }

  /** When the first lane of a workflow that is in none of these groups has a task and a slot for it. */
  next(workflow: string, full: readonly string[]): number | null {
    if (full.length === 0) return this.#lanes.next.get({ workflow })?.at ?? null;
    for (const limit of [SHORT_LOOK, LOOK_AHEAD]) {
      const found = this.#lanes.nextOutside.get({ workflow, full: JSON.stringify(full), limit });
      if (found === undefined || found.at !== null || found.looked < limit) return found?.at ?? null;
    }
    const isFull = new Set(full);
    const [ungrouped] = this.#ofGroup(workflow, UNGROUPED, { now: Number.MAX_SAFE_INTEGER, limit: 1 });
    let earliest = ungrouped?.nextAt ?? Infinity;
    for (const { laneGroup, at } of this.#groups(workflow)) {
      if (!isFull.has(laneGroup)) earliest = Math.min(earliest, at);
    }
    return earliest === Infinity ? null : earliest;
  }

  /** Due tasks, as many as the places, the shares of their groups and the slots of their lanes allow. */
  dueTasks(request: ClaimRequest): TaskRow[] {
    const { workflows, laned, now } = request;
    if (laned < 1) return [];
    const places = new FreePlaces(request);
    const lanes = [...new Set(workflows)]
      .flatMap((workflow) => this.#dueLanes(workflow, request, places))
      .toSorted((a, b) => a.nextAt - b.nextAt);
    const slots = new Map(lanes.map((row) => [row.lane, this.#freeSlots(row, now)]));
    const candidates = lanes.flatMap(({ lane, workflow }) =>
      this.#tasks.dueLaned.all({ lane, workflow, now, limit: Math.min(laned, slots.get(lane) ?? 0) }),
    );
    return places.give(candidates.toSorted(earliestFirst).filter(({ lane }) => takeSlot(slots, lane)));
  }

  /** The lanes among which the places are given, for each group no more than it could get. */
  #dueLanes(workflow: string, { now, laned }: ClaimRequest, places: FreePlaces): LaneRow[] {
    const limit = laned + LOOK_AHEAD;
    const first = this.#lanes.due.all({ workflow, now, limit });
    // Where each place could go to another group, or to a lane without one, no later lane gets any.
    const rivals = new Set(first.map(({ lane, laneGroup }) => rivalOf(lane, laneGroup, places)));
    rivals.delete(null);
    if (first.length < limit || rivals.size >= laned) return mostOfEach(first, places);
    const found = this.#ofGroup(workflow, UNGROUPED, { now, limit: laned });
    for (const { laneGroup, at } of this.#groups(workflow)) {
      const most = places.most(laneGroup);
      if (at <= now && most > 0) found.push(...this.#ofGroup(workflow, laneGroup, { now, limit: most }));
    }
    return found;
  }

  #ofGroup(
    workflow: string,
    laneGroup: string,
    due: { readonly now: number; readonly limit: number },
  ): LaneRow[] {
    return this.#lanes.dueOfGroup.all({ workflow, laneGroup, ...due });
  }

  /** Each group of a workflow, and when its first lane can give a task: one seek each, however many lanes it has. */
  *#groups(workflow: string): Generator<{ readonly laneGroup: string; readonly at: number }> {
    let group = this.#lanes.nextGroup.get({ workflow, after: UNGROUPED });
    while (group !== undefined) {
      yield group;
      group = this.#lanes.nextGroup.get({ workflow, after: group.laneGroup });
    }
  }

  #capOf({ lane, cap }: LaneRow): number {
    return Math.min(cap, this.#lanes.narrowed.get({ lane })?.cap ?? cap);
  }

  /** Whether this task may be leased now besides those of its lane that are; true where it has no lane. */
  hasSlot({ lane }: Pick<TaskRow, "lane">, now: number): boolean {
    if (lane === null) return true;
    const [row] = this.#lanes.of.all({ lane });
    return row !== undefined && this.#freeSlots(row, now) > 0;
  }

  #freeSlots(row: LaneRow, now: number): number {
    const { lane } = row;
    return Math.max(0, this.#capOf(row) - (this.#tasks.heldInLane.get({ lane, now })?.count ?? 0));
  }
}

/** By what lanes rival for places: those of a group by the group; null for a group that may get none. */
function rivalOf(lane: string, laneGroup: string, places: FreePlaces): string | null {
  if (laneGroup === UNGROUPED) return `lane ${lane}`;
  return places.isNew(laneGroup) ? `group ${laneGroup}` : null;
}

/** Of each group the earliest, as many as it could get. */
function mostOfEach(lanes: readonly LaneRow[], places: FreePlaces): LaneRow[] {
  const left = new Map<string, number>();
  return lanes.filter(({ laneGroup }) => {
    const most = left.get(laneGroup) ?? places.most(laneGroup === UNGROUPED ? null : laneGroup);
    left.set(laneGroup, most - 1);
    return most > 0;
  });
}

/** A lane with tasks of two workflows has two rows but one cap. */
function takeSlot(slots: Map<string, number>, lane: string | null): boolean {
  const free = slots.get(lane ?? "") ?? 0;
  slots.set(lane ?? "", free - 1);
  return free > 0;
}
