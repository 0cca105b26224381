/** The only place where the inspector reads the storage: lists of instances, and every detail of a single instance. */
import type { InspectedEngine } from "../engine/create-engine.ts";
import type { InspectedStorage } from "../engine/inspected-engine.ts";
import type { HistoryRecord, InstanceRecord, PendingTask } from "../../storage/storage.ts";
import type { AddedFields, AddedWork } from "../workflow/added-fields.ts";
import { stateMatches } from "../workflow/state-matches.ts";
import { addedWork } from "../workflow/step-additions.ts";
import type { FieldValues, FoundSnapshot } from "../workflow/instance-finder.ts";
import { instanceFinder } from "../workflow/instance-finders.ts";
import { deadLetters, failingTasks, type TroubledTask } from "../engine/kernel/troubled-tasks.ts";
import type { ChartRegistry } from "./chart-registry.ts";
import { isDamaged } from "./readable-storage.ts";

/** Filter of the list of instances. Absent fields do not filter. */
export interface ListQuery {
  /** `name@version`. */
  readonly workflow?: string;
  readonly status?: "active" | "done";
  /** Texts by which instances of the workflow are found. */
  readonly where?: FieldValues;
  /** The path of a state. */
  readonly state?: string;
  /** True for instances that need a person only. */
  readonly attention?: true;
  /** The last instance of the page before. A search by fields returns instances by id alone. */
  readonly before?: Pick<InstanceRecord, "createdAt" | "id">;
}

/** An instance in a list. */
export interface ListedInstance extends Pick<
  InstanceRecord,
  "id" | "workflow" | "status" | "createdAt" | "updatedAt"
> {
  /** The stored state value. */
  readonly value: unknown;
  /** The reason why the instance needs a person; null without a reason. */
  readonly trouble: string | null;
}

/** A page of the list. */
export interface InstanceList {
  /** Instances that need a person; on the first page only. */
  readonly troubled: readonly ListedInstance[];
  readonly instances: readonly ListedInstance[];
  /** The start of the next page; null on the last page. */
  readonly next: Pick<InstanceRecord, "createdAt" | "id"> | null;
}

interface FoundPage extends Pick<InstanceList, "next"> {
  readonly instances: readonly InstanceRecord[];
}

/** The stored data of an instance. */
/** Why an instance waits, beside its children. */
export interface InstanceWork extends AddedWork {
  readonly tasks: readonly PendingTask[];
}

export interface FoundInstance {
  readonly instance: InstanceRecord;
  /** Some of its steps, oldest first. */
  readonly history: readonly HistoryRecord[];
  /** The first version that its stored history has: older steps may be folded. */
  readonly oldest: number;
  readonly pending: InstanceWork;
}

/** The next timers, and whether there are more. */
export interface TimerPage {
  readonly timers: readonly PendingTask[];
  readonly isAll: boolean;
}

/** Finds instances that need a person, each with a sentence. */
type FindTroubles = () => Promise<readonly (readonly [id: string, trouble: string])[]>;

/** Tasks that cannot be done, and when the first of each workflow is due. */
export interface QueueStatus {
  readonly deadLetters: readonly TroubledTask[];
  readonly failing: readonly TroubledTask[];
  readonly earliest: readonly Pick<PendingTask, "workflow" | "visibleAt">[];
}

const DAMAGE = "what is stored of it cannot be read";
const PAGE_SIZE = 50;
// A filter may pass over many rows: this many are looked at for one page, and the next page goes on from there.
const MAX_LOOKED_AT = 2_000;
const MAX_STEPS = 100;
const STEPS_BEYOND = 20;
const MAX_PENDING = 100;
const MAX_TROUBLED = 50;
const MAX_TIMERS = 200;

export class InstanceReader {
  readonly #storage: InspectedStorage;
  readonly #charts: ChartRegistry;
  readonly #others: FindTroubles;

  /** `others` finds troubles that are no task's. */
  constructor({ storage }: Pick<InspectedEngine, "storage">, charts: ChartRegistry, others: FindTroubles) {
    this.#storage = storage;
    this.#charts = charts;
    this.#others = others;
  }

  async list(query: ListQuery): Promise<InstanceList> {
    const troubles = await this.#troubles();
    if (query.attention === true) {
      return { troubled: await this.#troubled(troubles, query), instances: [], next: null };
    }
    const { instances, next } = await (query.where === undefined ? this.#newest(query) : this.#found(query));
    return {
      troubled: query.before === undefined ? await this.#troubled(troubles, query) : [],
      instances: instances.map((each) => this.#listed(each, troubles.get(each.id))),
      next,
    };
  }

  async #newest(query: ListQuery): Promise<FoundPage> {
    const instances: InstanceRecord[] = [];
    let before = query.before ?? null;
    let isEnd = false;
    for (let seen = 0; !isEnd && instances.length < PAGE_SIZE && seen < MAX_LOOKED_AT;) {
      const page = await this.#storage.list({ order: "newest", after: before, limit: PAGE_SIZE });
      isEnd = page.length < PAGE_SIZE;
      seen += page.length;
      for (const each of page) {
        if (instances.length === PAGE_SIZE) break;
        before = { createdAt: each.createdAt, id: each.id };
        if (fits(each, query)) instances.push(each);
      }
      if (instances.length === PAGE_SIZE) isEnd = false;
    }
    return { instances, next: isEnd ? null : before };
  }

  /** Instances by the index of the first search field. */
  async #found(query: ListQuery): Promise<FoundPage> {
    const { workflow = "", where = {}, before } = query;
    const [field = "", value = ""] = Object.entries(where)[0] ?? [];
    const asked = { after: before?.id ?? "", limit: PAGE_SIZE };
    const ids = await instanceFinder.ids(this.#storage, { workflow, field, value }, asked);
    const records = await Promise.all(ids.map((id) => this.#storage.load(id)));
    const last = ids.length < PAGE_SIZE ? undefined : ids.at(-1);
    return {
      instances: records.filter((each) => each !== null).filter((each) => fits(each, query)),
      next: last === undefined ? null : { createdAt: 0, id: last },
    };
  }

  /** With the steps up to the last, or around `step`. Null where no instance has this id. */
  async find(id: string, step: number | null = null): Promise<FoundInstance | null> {
    const instance = await this.#storage.load(id);
    if (instance === null) return null;
    const last = step === null ? instance.version : Math.min(instance.version, step + STEPS_BEYOND);
    const after = Math.max(0, last - MAX_STEPS);
    const [[oldest], history, tasks] = await Promise.all([
      this.#storage.history(id, { after: 0, limit: 1 }),
      this.#storage.history(id, { after, limit: MAX_STEPS }),
      this.#storage.tasks({ order: "instance", instance: id, limit: MAX_PENDING }),
    ]);
    const pending = { tasks, ...addedWork(JSON.parse(instance.snapshot) as AddedFields) };
    return { instance, history, oldest: oldest?.version ?? 1, pending };
  }

  async timers(): Promise<TimerPage> {
    const workflows = (await this.#storage.tasks({ order: "workflow" })).map(({ workflow }) => workflow);
    const found = await Promise.all(
      workflows.map((workflow) => this.#storage.tasks({ order: "due", workflow, limit: MAX_TIMERS })),
    );
    const isAll = found.every(({ length }) => length < MAX_TIMERS);
    const timers = found
      .flat()
      .filter(({ kind }) => kind === "timer")
      .toSorted((a, b) => a.dueAt - b.dueAt);
    return { timers: timers.slice(0, MAX_TIMERS), isAll: isAll && timers.length <= MAX_TIMERS };
  }

  async queue(): Promise<QueueStatus> {
    const [dead, failing, earliest] = await Promise.all([
      deadLetters(this.#storage, MAX_TROUBLED),
      failingTasks(this.#storage, 1, MAX_TROUBLED),
      this.#storage.tasks({ order: "workflow" }),
    ]);
    return { deadLetters: dead, failing, earliest };
  }

  /** The trouble of each instance's worst task. */
  async #troubles(): Promise<Map<string, string>> {
    const { deadLetters: dead, failing } = await this.queue();
    const troubles = new Map<string, string>(await this.#others());
    for (const { instance, name, failures } of failing) {
      troubles.set(instance, `${name} has failed ${failures === 1 ? "once" : `${failures} times`}`);
    }
    for (const { instance, name } of dead) troubles.set(instance, `${name} was set aside`);
    return troubles;
  }

  async #troubled(troubles: ReadonlyMap<string, string>, query: ListQuery): Promise<ListedInstance[]> {
    const found = await Promise.all([...troubles.keys()].map((id) => this.#storage.load(id)));
    return found
      .filter((each) => each !== null)
      .filter((each) => fits(each, query))
      .map((each) => this.#listed(each, troubles.get(each.id)));
  }

  #listed(instance: InstanceRecord, trouble: string | undefined): ListedInstance {
    const { id, workflow, status, createdAt, updatedAt } = instance;
    const value = valueOf(instance);
    const told = this.#charts.get(workflow)?.active(value) ?? [];
    const attention = told.flatMap((state) => state.attention ?? []).at(-1);
    const damage = isDamaged(instance) ? DAMAGE : undefined;
    const worst = damage ?? trouble ?? attention ?? null;
    return { id, workflow, status, createdAt, updatedAt, value, trouble: worst };
  }
}

/** The state value in a stored snapshot. */
export function valueOf({ snapshot }: Pick<InstanceRecord, "snapshot">): unknown {
  return (JSON.parse(snapshot) as { readonly value?: unknown }).value;
}

function fits(instance: InstanceRecord, query: ListQuery): boolean {
  const { workflow, status, snapshot } = instance;
  const { state, where } = query;
  if (query.workflow !== undefined && query.workflow !== workflow) return false;
  if (query.status !== undefined && query.status !== status) return false;
  if (state !== undefined && !stateMatches(valueOf(instance), state)) return false;
  return where === undefined || instanceFinder.has(JSON.parse(snapshot) as FoundSnapshot, where);
}
