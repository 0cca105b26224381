/** The rows that say when each lane can next give a task, kept up to date with every change of its tasks. */
import type { Kysely, Selectable } from "kysely";
import type { LaneRow, Schema } from "../sql/schema.ts";
import { laneStatements, taskStatements } from "../sql/task-statements.ts";
import type { ClaimRequest, Lane } from "../storage.ts";
import { earliestFirst } from "../stored-task.ts";
import type { Connection, PreparedAll } from "./connection.ts";

type TaskRow = Selectable<Schema["tasks"]>;

export class Lanes {
  readonly #lanes: PreparedAll<ReturnType<typeof laneStatements>>;
  readonly #tasks: PreparedAll<ReturnType<typeof taskStatements>>;

  constructor(connection: Connection, db: Kysely<Schema>) {
    this.#lanes = connection.prepareAll(laneStatements(db));
    this.#tasks = connection.prepareAll(taskStatements(db));
  }

  /** Makes sure the lane has its row and this cap; `settle` it afterwards. */
  open({ key: lane, cap }: Lane, workflow: string, nextAt: number): void {
    this.#lanes.open.run({ lane, workflow, cap, nextAt });
    this.#lanes.recap.run({ lane, cap });
  }

  /** Brings the rows of lanes whose tasks have changed in line with them: two seeks each. */
  settle(changed: ReadonlySet<string | null>): void {
    for (const lane of changed) if (lane !== null) this.#settle(lane);
  }

  #settle(lane: string): void {
    const rows = this.#lanes.of.all({ lane });
    const cap = rows[0]?.cap ?? 1;
    const slotAt = this.#tasks.nextSlot.get({ lane, others: cap - 1 })?.at ?? -Infinity;
    for (const row of rows) {
      const { workflow } = row;
      const first = this.#tasks.nextInLane.get({ lane, workflow });
      const nextAt = Math.max(first?.at ?? 0, slotAt);
      if (first === undefined) this.#lanes.close.run({ lane, workflow });
      else if (nextAt !== row.nextAt) this.#lanes.schedule.run({ lane, workflow, nextAt });
    }
  }

  /** When the first lane of a workflow has a task and a slot for it. */
  next(workflow: string): number | null {
    return this.#lanes.next.get({ workflow })?.at ?? null;
  }

  /** Due tasks, earliest first, as many as the hands and the slots of their lanes allow. */
  dueTasks({ workflows, laned, now }: ClaimRequest): TaskRow[] {
    if (laned < 1) return [];
    const lanes = [...new Set(workflows)]
      .flatMap((workflow) => this.#lanes.due.all({ workflow, now, limit: laned }))
      .toSorted((a, b) => a.nextAt - b.nextAt);
    const slots = new Map(lanes.map((row) => [row.lane, this.#freeSlots(row, now)]));
    const candidates = lanes.flatMap(({ lane, workflow }) =>
      this.#tasks.dueLaned.all({ lane, workflow, now, limit: Math.min(laned, slots.get(lane) ?? 0) }),
    );
    return candidates
      .toSorted(earliestFirst)
      .filter(({ lane }) => takeSlot(slots, lane))
      .slice(0, laned);
  }

  #freeSlots({ lane, cap }: LaneRow, now: number): number {
    return Math.max(0, cap - (this.#tasks.heldInLane.get({ lane, now })?.count ?? 0));
  }
}

/** A lane with tasks of two workflows has two rows but one cap. */
function takeSlot(slots: Map<string, number>, lane: string | null): boolean {
  const free = slots.get(lane ?? "") ?? 0;
  slots.set(lane ?? "", free - 1);
  return free > 0;
}
