/** Tasks in PostgreSQL: claimed, extended and given back in one round trip each. */
import { checkLimit } from "../check-limit.ts";
import type { StoredTask } from "../engine-tables.ts";
import { namedRead, statement } from "../sql/statement.ts";
import { IN_QUEUE, QUEUE_OF_TASK, SOONEST_FIRST, taskStatements } from "../sql/task-statements.ts";
import { claimedTask, pendingTask } from "../stored-task.ts";
import type { EngineStorage, Heartbeat, LimitWait, PendingTask, QueueName } from "../storage.ts";
import { QUEUES } from "../task-queues.ts";
import type { Database } from "./database.ts";
import type { DatabaseClock } from "./database-clock.ts";
import { lost } from "./explain.ts";
import { functionNames } from "./functions.ts";
import { MAX_HEADS } from "../limits.ts";
import { HELD_SUSPECT, heldAsSuspectUntil, IN_LINE, workflowsIn } from "./functions/claims.ts";
import { again, raced } from "./retries.ts";
import { NUL } from "./text.ts";
import type { WakeFeed } from "./wake-feed.ts";

interface TaskContext {
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly wakes: Pick<WakeFeed, "tell">;
}

export function tasksIn({
  database,
  clock,
  wakes,
}: TaskContext): Pick<EngineStorage, "claim" | "heartbeat" | "release" | "nextDue" | "tasks"> {
  /** The first key behind which tasks are looked for that were forgotten. */
  let lookedBehind = "";
  /** Not repeated where the answer is lost. */
  const once = (name: string, request: object): Promise<unknown> =>
    raced(() => database.call(name, request)).catch((error: unknown) => {
      throw lost(error);
    });
  const forgotten = async (): Promise<StoredTask[]> => {
    const looked = await database.read(HEADS, { after: lookedBehind });
    lookedBehind = looked[MAX_HEADS - 1]?.firstKey ?? "";
    const found = looked.filter(({ isForgotten }) => isForgotten);
    return (await Promise.all(found.map(({ id }) => database.read(taskStatements.one, { id })))).flat();
  };
  return {
    /** Writes nothing while nothing is due. Where the answer is lost the leases run out by themselves. */
    async claim(request) {
      const answer = await once(functionNames.claim, { ...request, now: clock.now(request.now) });
      const { now, tasks } = answer as { readonly now: number; readonly tasks: readonly StoredTask[] };
      clock.learn(request.now, now);
      return tasks.map(claimedTask);
    },
    async heartbeat({ now, ...beat }) {
      if (beat.tasks.length === 0) return { lost: [], unseen: [] };
      const request = { ...beat, now: clock.now(now) };
      return (await again(() => database.call(functionNames.heartbeat, request))) as Heartbeat;
    },
    /** Where the answer is lost a failure would count twice: the lease runs out by itself. */
    async release({ error, ...due }) {
      // Errors are for people: characters that PostgreSQL cannot store are left out.
      const failure = error === undefined ? {} : { error: error.replaceAll(NUL, "") };
      const visibleAt = clock.stored(due.dueAt, due.delayMs);
      const isReleased = await once(functionNames.release, { ...due, visibleAt, ...failure });
      if (isReleased === true) wakes.tell();
      return isReleased === true;
    },
    async nextDue(workflows, queues = QUEUES) {
      const asked = { workflows: JSON.stringify(workflows), queues: JSON.stringify(queues) };
      const [next] = await database.read(NEXT_DUE, asked);
      return next === undefined || next.at === null ? null : clock.told(next.at);
    },
    async tasks(listing) {
      if ("limit" in listing) checkLimit("tasks", listing.limit);
      if (listing.order === "instance") {
        const { instance, limit, except = "" } = listing;
        const tasks = await database.read(OF_INSTANCE, { instance, limit, except });
        const placed = (text: string | null) => (text === null ? null : (JSON.parse(text) as LimitWait));
        return tasks.map((task) => shown(task, clock, placed(task.place)));
      }
      const listed =
        listing.order === "forgotten"
          ? await forgotten()
          : await database.read<object, StoredTask>({ text: LISTS[listing.order].text }, listing);
      return listed.map((task) => shown(task, clock));
    },
  };
}

/** As the caller's clock has it. */
function shown(task: StoredTask, clock: DatabaseClock, waitsFor?: LimitWait | null): PendingTask {
  const deadAt = task.deadAt === null ? null : clock.told(task.deadAt);
  return pendingTask({ ...task, visibleAt: clock.told(task.visibleAt), deadAt }, waitsFor);
}

/** The tasks of an instance, and as JSON the places that they wait for. */
const OF_INSTANCE = namedRead<
  { instance: string; except: string; limit: number },
  StoredTask & { place: string | null }
>(
  `select t.*, ${functionNames.place}(t) as place from "paystateTasks" t where t.id in (
    select o.id from (${taskStatements.ofInstance.text}) as o) order by t.name, t.seq`,
);

/** When the first of a queue can be claimed, of a workflow that is asked for: by one seek. */
const nextOf = (queue: QueueName, more = ""): string =>
  `(select "visibleAt" as at from "paystateTasks" where ${IN_QUEUE[queue]} and workflow = w.name${more} and asked.queues ? '${queue}'
        order by "visibleAt" limit 1)`;

/**
 * A suspect that waits for its turn can be claimed at once; or when a lone suspect is held no longer; or any suspect if it
 * must be alone.
 */
const NEXT_DUE = namedRead<{ workflows: string; queues: string }, { at: number | null }>(
  `with asked as (select {workflows}::text::jsonb as workflows, {queues}::text::jsonb as queues)
    select least(
      (select min(next.at) from asked cross join jsonb_array_elements_text(asked.workflows) w(name) cross join lateral (
        ${nextOf("steps")} union all ${nextOf("free")} union all
        ${nextOf("limited", " and admission = 'admitted'")} union all
        ${nextOf("limited", " and admission = 'paused'")}) next),
      (select min(greatest(t."crashedAt", (
          select max(${heldAsSuspectUntil("held")}) from "paystateTasks" held
            where ${HELD_SUSPECT} and (held."aloneSince" is not null or t."aloneSince" is not null)
        ))) from asked, "paystateTasks" t where ${IN_LINE} and asked.workflows ? workflow and asked.queues ? (${QUEUE_OF_TASK}))
    ) as at`,
);

const parkedIn = (
  key: string,
  more = "",
): string => `select p.id, p."lastKey", ${functionNames.hasRoom}(p) from "paystateTasks" p
      where p."deadAt" is null and p."firstKey" is not null and p."firstKey" = ${key} and p.admission = 'parked'${more}
      order by p."lastKey", ${SOONEST_FIRST} limit 1`;
const keyAfter = (key: string): string => `select t."firstKey" from "paystateTasks" t
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

const firstOfEach = (queue: QueueName, more = ""): string =>
  `select f.* from ${queue} w cross join lateral (
        select * from "paystateTasks" t where ${IN_QUEUE[queue]} and t.workflow = w.workflow${more} order by "visibleAt", seq limit 1) f`;

/** The first task of each workflow, and of each admission for tasks with limits. */
const FIRST_OF_EACH = statement<object, StoredTask>(
  `with recursive ${QUEUES.map(workflowsIn).join(", ")}
    select distinct on (workflow) * from (
      ${firstOfEach("steps")} union all ${firstOfEach("free")} union all
      ${["admitted", "parked", "paused"].map((each) => firstOfEach("limited", ` and t.admission = '${each}'`)).join(" union all ")}
    ) every order by workflow, "visibleAt", seq`,
);

const { dead, failing, steps, parked } = taskStatements;
const LISTS = { dead, failing, due: steps, parked, workflow: FIRST_OF_EACH };
