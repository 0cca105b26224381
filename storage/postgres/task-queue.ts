/** Tasks in PostgreSQL: claimed, extended and given back in one round trip each. */
import type { StoredTask } from "../engine-tables.ts";
import { statement } from "../sql/statement.ts";
import { IN_QUEUE, SOONEST_FIRST, taskStatements } from "../sql/task-statements.ts";
import { claimedTask, pendingTask } from "../stored-task.ts";
import type {
  ClaimRequest,
  ClaimedTask,
  EngineStorage,
  LimitWait,
  PendingTask,
  QueueName,
  TaskKind,
  TaskListQuery,
} from "../storage.ts";
import { QUEUES } from "../task-queues.ts";
import type { Database } from "./database.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { lost } from "./explain.ts";
import { functionNames } from "./functions.ts";
import { MAX_HEADS } from "../limits.ts";
import { IN_LINE, limitedWorkflows, QUEUE_OF_TASK } from "./functions/claims.ts";
import { again, raced } from "./retries.ts";

type Heartbeat = Parameters<EngineStorage["heartbeat"]>[0];
type Release = Parameters<EngineStorage["release"]>[0];

/** Errors are for people: characters that PostgreSQL cannot store are left out. */
const NUL = "\u0000";

export class TaskQueue {
  readonly #database: Database;
  readonly #clock: DatabaseClock;
  /** The first key behind which tasks are looked for that were forgotten. */
  #lookedBehind = "";

  constructor(database: Database, clock: DatabaseClock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Writes nothing while nothing is due. Where the answer is lost the leases run out by themselves. */
  async claim(request: ClaimRequest): Promise<ClaimedTask[]> {
    const now = this.#clock.now(request.now);
    const answer = await this.#once(functionNames.claim, { ...request, now });
    const { now: at, tasks } = answer as { readonly now: number; readonly tasks: readonly StoredTask[] };
    this.#clock.learn(request.now, at);
    return tasks.map(claimedTask);
  }

  async heartbeat({ now, ...beat }: Heartbeat): Promise<string[]> {
    if (beat.tasks.length === 0) return [];
    const request = { ...beat, now: this.#clock.now(now) };
    return (await again(() => this.#database.call(functionNames.heartbeat, request))) as string[];
  }

  /** Not repeated where the answer is lost, since a failure would count twice: the lease runs out by itself. */
  async release({ error, ...due }: Release): Promise<boolean> {
    const failure = error === undefined ? {} : { error: error.replaceAll(NUL, "") };
    const visibleAt = this.#clock.stored(due.dueAt, due.delayMs);
    return (await this.#once(functionNames.release, { ...due, visibleAt, ...failure })) as boolean;
  }

  async #once(name: string, request: object): Promise<unknown> {
    return raced(() => this.#database.call(name, request)).catch((error: unknown) => {
      throw lost(error);
    });
  }

  async of(instance: string, limit: number, except?: TaskKind): Promise<PendingTask[]> {
    const asked = { instance, limit, except: except ?? "" };
    const found = await this.#database.read(OF_INSTANCE, asked);
    const places = found.map(({ place }) => (place === null ? null : (JSON.parse(place) as LimitWait)));
    return this.#shown(found, places);
  }

  async nextDue(workflows: readonly string[], queues: readonly QueueName[] = QUEUES): Promise<number | null> {
    const asked = { workflows: JSON.stringify(workflows), queues: JSON.stringify(queues) };
    const [next] = await this.#database.read(NEXT_DUE, asked);
    return next === undefined || next.at === null ? null : this.#clock.told(next.at);
  }

  async list(listing: TaskListQuery): Promise<PendingTask[]> {
    return this.#shown(await this.#listed(listing));
  }

  #listed(listing: TaskListQuery): Promise<StoredTask[]> {
    switch (listing.order) {
      case "dead":
        return this.#database.read(taskStatements.dead, listing);
      case "failing":
        return this.#database.read(taskStatements.failing, listing);
      case "due":
        return this.#database.read(taskStatements.steps, listing);
      case "parked":
        return this.#database.read(taskStatements.parked, listing);
      case "forgotten":
        return this.#forgotten();
      case "workflow":
        return this.#database.read(FIRST_OF_EACH, {});
    }
  }

  async #forgotten(): Promise<StoredTask[]> {
    const looked = await this.#database.read(HEADS, { after: this.#lookedBehind });
    this.#lookedBehind = looked[MAX_HEADS - 1]?.firstKey ?? "";
    const found: StoredTask[] = [];
    for (const { id, isForgotten } of looked) {
      if (isForgotten) found.push(...(await this.#database.read(taskStatements.one, { id })));
    }
    return found;
  }

  /** As the caller's clock has it. */
  #shown(tasks: readonly StoredTask[], places: readonly (LimitWait | null)[] = []): PendingTask[] {
    const told = (at: number): number => this.#clock.told(at);
    return tasks.map((task, index) => {
      const { visibleAt, deadAt } = task;
      const times = { visibleAt: told(visibleAt), deadAt: deadAt === null ? null : told(deadAt) };
      return pendingTask({ ...task, ...times }, places[index]);
    });
  }
}

/** The tasks of an instance, and as JSON the places that they wait for. */
const OF_INSTANCE = statement<
  { instance: string; except: string; limit: number },
  StoredTask & { place: string | null }
>(
  `select t.*, ${functionNames.place}(t) as place from tasks t where t.id in (
    select o.id from (${taskStatements.ofInstance.text}) as o) order by t.name, t.seq`,
);

/** The first task of each workflow in one queue: from workflow to workflow by one seek each, however many tasks lie between. */
const firstOfEach = (queue: "steps" | "free"): string => `${queue} as (
      (select * from tasks where ${IN_QUEUE[queue]} order by workflow, "visibleAt", seq limit 1)
      union all
      select next.* from ${queue} cross join lateral (
        select t.* from tasks t where ${IN_QUEUE[queue]} and t.workflow > ${queue}.workflow
          order by t.workflow, t."visibleAt", t.seq limit 1) next
    )`;

/** When the first of a queue can be claimed, of a workflow that is asked for: by one seek. */
const nextOf = (queue: QueueName, more = ""): string =>
  `(select "visibleAt" as at from tasks where ${IN_QUEUE[queue]} and workflow = w.name${more} and asked.queues ? '${queue}'
        order by "visibleAt" limit 1)`;

/** A suspect that waits for its turn can be claimed at once, or when the lease of another ends. */
const NEXT_DUE = statement<{ workflows: string; queues: string }, { at: number | null }>(
  `with asked as (select {workflows}::text::jsonb as workflows, {queues}::text::jsonb as queues)
    select least(
      (select min(next.at) from asked cross join jsonb_array_elements_text(asked.workflows) w(name) cross join lateral (
        ${nextOf("steps")} union all ${nextOf("free")} union all
        ${nextOf("limited", " and admission = 'admitted'")} union all
        ${nextOf("limited", " and admission = 'paused'")}) next),
      (select greatest(min("crashedAt"), (
          select max("visibleAt") from tasks where "crashedAt" is not null and "deadAt" is null and holder is not null
        )) from asked, tasks where ${IN_LINE} and asked.workflows ? workflow and asked.queues ? (${QUEUE_OF_TASK})
        having count(*) > 0)
    ) as at`,
);

const parkedIn = (
  key: string,
  more = "",
): string => `select p.id, p."lastKey", ${functionNames.hasRoom}(p) from tasks p
      where p."deadAt" is null and p."firstKey" is not null and p."firstKey" = ${key} and p.admission = 'parked'${more}
      order by p."lastKey", ${SOONEST_FIRST} limit 1`;
const keyAfter = (key: string): string => `select t."firstKey" from tasks t
      where t."deadAt" is null and t."firstKey" is not null and t."firstKey" > ${key} order by t."firstKey" limit 1`;

/** The first parked task of each of 64 keys: one seek to each. */
const HEADS = statement<{ after: string }, { id: string; firstKey: string; isForgotten: boolean }>(
  `with recursive keys (key) as (
      (${keyAfter("{after}")}) union all select n."firstKey" from keys cross join lateral (${keyAfter("keys.key")}) n
    )
    select h.id, keys.key as "firstKey", h."isForgotten" from keys cross join lateral (
      with recursive heads (id, "lastKey", "isForgotten") as (
        (${parkedIn("keys.key")}) union all
        select n.* from heads cross join lateral (${parkedIn("keys.key", ` and p."lastKey" > heads."lastKey"`)}) n
      ) select * from heads) h limit ${MAX_HEADS}`,
);

/** The first task of each workflow, and of each admission for tasks with limits. */
const FIRST_OF_EACH = statement<object, StoredTask>(
  `with recursive ${firstOfEach("steps")}, ${firstOfEach("free")}, ${limitedWorkflows}
    select distinct on (workflow) * from (
      select * from steps union all select * from free union all
      select f.* from limited l cross join (values ('admitted'), ('parked'), ('paused')) a(admission)
        cross join lateral (
          select * from tasks t where ${IN_QUEUE.limited} and t.workflow = l.workflow and t.admission = a.admission
            order by "visibleAt", seq limit 1) f
    ) every order by workflow, "visibleAt", seq`,
);
