/** Sessions keep plans. One that was made while a table was empty must not read all of the table once it is large. */
import pg from "pg";
import { expect, test } from "vitest";
import {
  type PostgresClient,
  type PostgresPool,
  type PostgresStorage,
  postgresStorage,
} from "../../storage/postgres.ts";
import type { AnyCommit, ClaimedTask, EngineStorage, TaskRecord } from "../../storage/storage.ts";
import {
  claim,
  LEASE,
  limitedTo,
  range,
  startOf,
  stampOf,
  stepOf,
  taskOf,
} from "../contracts/storage/samples.ts";
import { postgresDatabase } from "../kit/postgres-database.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import { defineTable } from "../../storage/table.ts";

/** How many rows of the tables one transaction has read. */
interface Read {
  readonly whole: number;
  readonly byIndex: number;
}

/** Connections that tell of each transaction what it has read: the server counts it, whatever plan it has kept. */
function counting(pool: pg.Pool, schema: string, told: (read: Read) => void): PostgresPool {
  const counts = `select sum(seq_tup_read)::int as whole, sum(idx_tup_fetch)::int as "byIndex" from pg_stat_xact_user_tables
    where schemaname = '${schema}' and relname in (${TABLES.map((n) => `'${n}'`).join()})`;
  const known = new WeakMap<object, PostgresClient>();
  const connect = async (): Promise<PostgresClient> => {
    const client = (await pool.connect()) as unknown as PostgresClient;
    const wrapped = known.get(client) ?? wrap(client);
    known.set(client, wrapped);
    return wrapped;
  };
  return { connect, on: pool.on.bind(pool), options: {}, end: async () => {} };

  function wrap(client: PostgresClient): PostgresClient {
    return {
      async query(query) {
        const [, head, statements] = /^(.*set local lock_timeout to \d+;)(.*)$/s.exec(query.text) ?? [];
        if (head === undefined || query.text.startsWith("begin")) return client.query(query);
        const results = await client.query({ ...query, text: `${head}${counts};${statements};${counts}` });
        const all = Array.isArray(results) ? results : [results];
        const [before, after] = all.flatMap(({ rows }) =>
          rows.filter((row): row is Read => "byIndex" in row),
        );
        if (before === undefined || after === undefined) throw new Error("the server has not counted");
        told({ whole: after.whole - before.whole, byIndex: after.byIndex - before.byIndex });
        return all.slice(0, -1);
      },
      on: (...heard) => client.on(...heard),
      release: (destroyed) => client.release(destroyed),
    };
  }
}

const TABLES = ["paystateTasks", "paystateInstances", "kept", "paystateHistory"];

/** From the sixth time on a session keeps a plan. */
const TIMES = 7;

/** More instances than any act has to read rows. */
const BACKLOG = 2_000;

/** A task of each kind, of one instance. */
const tasksOf = (from: string): readonly TaskRecord[] => {
  const of = (id: string, changes: Partial<TaskRecord> = {}): TaskRecord =>
    taskOf(`${from}${id}`, { instance: `${from}i`, ...changes });
  return [
    of("effect"),
    of("timer", { kind: "timer" }),
    of("invocation", { kind: "invocation" }),
    {
      ...limitedTo(`${from}limited`, "all", 4),
      limits: [
        { key: "all", atMost: 4 },
        { key: from, atMost: 2 },
      ],
    },
    { ...of("message", { kind: "message" }), limits: [{ key: `message to ${from}i`, atMost: 1 }] },
  ];
};

const kept = defineTable("kept", { columns: { id: "text", share: "text" }, indexes: { share: ["share"] } });

const arming = (from: string): AnyCommit => ({ arms: tasksOf(from).map((task) => ({ task })) });

/** What commits do to tasks, instances and rows, each alone, with what has been claimed of this round. */
const commitsOf = (from: string, claimed: readonly ClaimedTask[]): Readonly<Record<string, AnyCommit>> => {
  const [{ id: task, token } = { id: "none", token: 1 }] = claimed;
  const row = { table: "kept", put: { id: from, share: "k" } };
  return {
    start: { starts: [startOf(from, { status: "done" }), startOf(`${from}-child`, { parent: from })] },
    "step of it": { step: stepOf(from, 1, { status: "done" }) },
    "removal of it": { removes: [{ id: from, life: stampOf(1) }] },
    "last step of its child": { step: stepOf(`${from}-child`, 1, { status: "done", isLast: true }) },
    put: { writes: [row] },
    unput: { writes: [{ table: "kept", unput: from }] },
    arming: arming(`${from}-`),
    consumption: { consumes: { task, token } },
    "consumption of a run": { consumes: { task, token }, behind: ["none"] },
    retry: { retries: [{ task, dueAt: 0 }] },
    drop: { drops: [task] },
    override: { limits: [{ key: "all", atMost: 2, dueAt: 0 }] },
    "end of the override": {
      limits: [
        { key: from, atMost: null, dueAt: 0 },
        { key: "all", atMost: null, dueAt: 0 },
      ],
    },
    disarming: { disarms: [{ instance: `${from}-i`, timer: "work" }] },
    adoption: { adopts: [{ instance: `${from}-i`, workflow: "other@1" }] },
    amendment: { amends: [{ task, name: "other", payload: "{}", dueAt: 0 }] },
    end: { ends: [`${from}-i`] },
  };
};

/** Does all that is done to tasks; tells each act when it is done. */
async function doAll(storage: EngineStorage, from: string, told: (act: string) => void): Promise<void> {
  const now = 10;
  const few = { steps: 4, free: 4, limited: 4 };
  const claimed = await claim(storage, now, few);
  told("claim");
  const tasks = [...claimed.map(({ id, token }) => ({ id, token })), { id: "none", token: 1 }];
  await storage.heartbeat({ holder: "h", tasks, now, leaseMs: LEASE });
  told("heartbeat");
  await claim(storage, now + LEASE, few);
  told("claim of what has vanished");
  await storage.heartbeat({ holder: "h", tasks, now: now + LEASE, leaseMs: LEASE });
  told("late heartbeat");
  await storage.release({ id: "none", ...tasks[1], token: 2, dueAt: now, error: "x" });
  told("release");
  for (const [act, item] of Object.entries(commitsOf(from, claimed))) {
    await storage.commit([item]);
    told(act);
    await storage.commit([item, { ...item, history: [] }]);
    told(`${act}, of two`);
  }
  await storage.tasks({ order: "instance", instance: `${from}-i`, limit: 10 });
  await storage.lease({ names: ["n"], holder: "h", now: () => 1, leaseMs: LEASE, highest: now });
  told("clock set back");
}

const planTest = test.extend<{ world: World }>({
  world: async ({}, use) => {
    const { url, schema, destroy } = await postgresDatabase();
    const reads: Read[] = [];
    const pool = new pg.Pool({ connectionString: url, max: 1 });
    const direct = new pg.Pool({ connectionString: url, max: 1, options: `-c search_path=${schema}` });
    const counted = counting(pool, schema, (read) => reads.push(read));
    const storage = await postgresStorage(counted, { schema, clock: "caller", listen: false });
    await storage.install([kept]);
    await use({ storage, reads, direct });
    await storage.close();
    await Promise.all([pool.end(), direct.end()]);
    await destroy();
  },
});

interface World {
  /** One session has all its plans. */
  readonly storage: PostgresStorage;
  /** What its transactions have read. */
  readonly reads: Read[];
  readonly direct: pg.Pool;
}

planTest.runIf(HAS_POSTGRES)(
  "D43: no act reads through tasks, instances or rows that are put by a plan of the time when there were none",
  async ({ world: { storage, reads, direct } }) => {
    const inEach = async (statement: string): Promise<void> => {
      for (const table of TABLES) await direct.query(`${statement} "${table}"`);
    };
    // As autovacuum leaves tables whose rows have come and gone: known to be empty.
    await doAll(storage, "before", () => {});
    await inEach("delete from");
    await inEach("vacuum analyze");
    for (let time = 0; time < TIMES; time += 1) {
      await doAll(storage, "none", () => {});
      await inEach("delete from");
    }
    await storage.commit(
      range(BACKLOG).map((index) => ({
        ...arming(`many${index}-`),
        starts: [startOf(`many${index}`, { parent: "other" })],
        writes: [{ table: "kept", put: { id: `many${index}`, share: "k" } }],
      })),
    );
    reads.splice(0);
    const most: Record<string, Read> = {};
    await doAll(storage, "after", (act) => {
      const all = reads.splice(0);
      const largest = (of: keyof Read): number => Math.max(0, ...all.map((read) => read[of]));
      most[act] = { whole: largest("whole"), byIndex: largest("byIndex") };
    });
    const read = Object.values(most);
    expect(read.filter(({ byIndex }) => byIndex > 0).length, "counted").toBeGreaterThan(10);
    expect(Object.entries(most).filter(([, { whole, byIndex }]) => whole > 0 || byIndex > BACKLOG)).toEqual(
      [],
    );
  },
);
