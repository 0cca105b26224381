/** Everything one memory storage holds, and the commit that changes it: all of it, or a conflict. */
import type {
  AnyCommit,
  CommitAnswer,
  CommitResult,
  HistoryRecord,
  InstanceListing,
  InstanceRecord,
  Lease,
  LeaseRequest,
} from "../storage.ts";
import { failed } from "../commit-answers.ts";
import { engineTables, startedInstance, type StoredLease } from "../engine-tables.ts";
import { planLeases } from "../named-leases.ts";
import { compareTexts } from "../compare-texts.ts";
import { engineShape } from "./engine-shape.ts";
import { Journal, MemoryTable } from "./table.ts";
import { Tables } from "./tables.ts";
import { TaskQueue } from "./task-queue.ts";
import { WatchList } from "./watch-list.ts";

/** Everything one memory storage holds. */
export class MemoryDatabase {
  readonly journal: Journal = new Journal();
  readonly instances: MemoryTable<InstanceRecord> = new MemoryTable(
    engineShape(engineTables.instances),
    this.journal,
  );
  readonly history: MemoryTable<HistoryRecord> = new MemoryTable(
    engineShape(engineTables.history),
    this.journal,
  );
  readonly tasks: TaskQueue = new TaskQueue(this.journal);
  readonly watches: WatchList = new WatchList(this.journal);
  readonly leases: MemoryTable<StoredLease> = new MemoryTable(
    engineShape(engineTables.paystateLeases),
    this.journal,
  );
  readonly tables: Tables = new Tables(this.journal);

  list(listing: InstanceListing): InstanceRecord[] {
    const before = placeIn(listing);
    return [...this.instances.all()]
      .filter((each) => isListed(each, listing) && before(each))
      .toSorted(ORDERS[listing.order])
      .slice(0, listing.limit)
      .map((each) => this.instances.copy(each));
  }

  lease(request: LeaseRequest): readonly Lease[] {
    const { held, put, remove } = planLeases(request, [...this.leases.all()]);
    for (const lease of put) this.leases.put(lease);
    for (const name of remove) this.leases.remove(this.leases.get(name) as StoredLease);
    return held;
  }

  /** Each on its own: one that holds a mistake fails alone. */
  commit(items: readonly AnyCommit[]): CommitAnswer[] {
    const isOk = ({ ok }: CommitResult): boolean => ok;
    return items.map((item) => {
      try {
        return this.journal.atomically(() => this.#apply(item), isOk);
      } catch (error) {
        return failed(error);
      }
    });
  }

  #apply(commit: AnyCommit): CommitResult {
    const { step, removes = [], starts = [], writes = [] } = commit;
    if (!this.tasks.consume(commit) || !this.tasks.command(commit)) return { ok: false, conflict: "token" };
    if (step !== undefined && !this.#step(step)) return { ok: false, conflict: "step" };
    if (!removes.every((each) => this.#remove(each))) return { ok: false, conflict: "step" };
    for (const [index, start] of starts.entries()) {
      const isNew = this.instances.insert(startedInstance(start));
      if (!isNew) return { ok: false, conflict: "exists", index };
    }
    for (const [index, change] of writes.entries()) {
      if (!this.tables.write(change)) return { ok: false, conflict: "write", index };
    }
    const parked = this.#follow(commit);
    this.tasks.settle();
    return parked.length === 0 ? { ok: true } : { ok: true, parked };
  }

  #step({ id, after, steps = 1, at, ...next }: NonNullable<AnyCommit["step"]>): boolean {
    const instance = this.instances.get(id);
    if (instance?.stamp !== after) return false;
    return this.instances.put({ ...instance, ...next, version: instance.version + steps, updatedAt: at });
  }

  /** False where the instance is absent or active, a child of it is, or something is still to be done for it. */
  #remove({ id, life }: NonNullable<AnyCommit["removes"]>[number]): boolean {
    const instance = this.instances.get(id);
    if (instance?.status !== "done" || instance.life !== life) return false;
    if (this.instances.under("parent", id).some(({ status }) => status === "active")) return false;
    if (this.tasks.of(id, 1).length > 0 || this.watches.ofInstance(id, 1).length > 0) return false;
    this.instances.remove(instance);
    for (const row of this.history.under("instance", id)) this.history.remove(row);
    return true;
  }

  /** What cannot be refused. A step may leave and enter a state again, so the old goes before the new comes. */
  #follow({
    disarms = [],
    ends = [],
    adopts = [],
    amends = [],
    arms = [],
    unwatches = [],
    watches = [],
    history = [],
  }: AnyCommit): string[] {
    for (const instance of ends) this.tasks.end(instance);
    for (const { instance, timer } of disarms) this.tasks.disarm(instance, timer);
    for (const { instance, workflow } of adopts) this.tasks.adopt(instance, workflow);
    for (const amended of amends) this.tasks.amend(amended);
    const parked = arms.flatMap((each) => this.#arm(each));
    for (const watch of unwatches) this.watches.unwatch(watch);
    for (const watch of watches) this.watches.watch(watch);
    for (const row of history) {
      const isNew = this.history.insert(row);
      if (!isNew) throw new Error(`${row.instance} has a version ${row.version} in its history`);
    }
    return parked;
  }

  /** Answers the task where its lease was not given. */
  #arm({ task: given, lease }: NonNullable<AnyCommit["arms"]>[number]): string[] {
    const target = given.kind === "message" ? this.instances.get(given.instance) : undefined;
    const task = target === undefined ? given : { ...given, workflow: target.workflow };
    const mustWait = lease !== undefined && this.tasks.mustWait(task);
    const isNew = this.tasks.arm(task, mustWait ? undefined : lease);
    if (!isNew) throw new Error(`task ${task.id} was armed before`);
    return mustWait ? [task.id] : [];
  }
}

type Order = (a: InstanceRecord, b: InstanceRecord) => number;

const byId: Order = (a, b) => compareTexts(a.id, b.id);

const ORDERS: { readonly [O in InstanceListing["order"]]: Order } = {
  id: byId,
  newest: (a, b) => b.createdAt - a.createdAt || byId(b, a),
  ended: (a, b) => a.updatedAt - b.updatedAt || byId(a, b),
  workflow: (a, b) => compareTexts(a.workflow, b.workflow),
};

function isListed({ workflow, status, updatedAt }: InstanceRecord, listing: InstanceListing): boolean {
  if (listing.order === "id") return workflow === listing.workflow && status === listing.status;
  return listing.order !== "ended" || (status === "done" && updatedAt <= listing.until);
}

/** Whether an instance stands behind the place where the page begins. */
function placeIn({ order, after }: InstanceListing): (each: InstanceRecord) => boolean {
  if (after === null) return () => true;
  const place = (typeof after === "string" ? { id: after, workflow: after } : after) as InstanceRecord;
  return (each) => ORDERS[order](place, each) < 0;
}
