/** What PostgreSQL answers for each commit of a group when a statement fails, is cancelled, or its answer is lost: what is true. */
import pg from "pg";
import { afterEach, describe, expect, onTestFinished, vi } from "vitest";
import { type PaymentStorage, paymentStorage } from "../../src/payments/payment-storage.ts";
import { postgresStorage, type PostgresOptions } from "../../storage/postgres.ts";
import type { CommitAnswer } from "../../storage/storage.ts";
import { type PaymentCommit, range, startOf } from "../contracts/storage/samples.ts";
import { postgresTest } from "../kit/postgres-test.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";

const fact = (id: string): PaymentCommit => ({ writes: [{ table: "facts", insert: { id, value: id } }] });
const IDS = range(255).map((index) => `f${index}`);
const wordOf = (answer: CommitAnswer): string => (answer.ok ? "ok" : answer.conflict);

/** Nothing listens there. */
const NOWHERE = "postgres://nobody@127.0.0.1:1/nothing";

const test = postgresTest
  .extend("through", async ({ database, proxy }, { onCleanup }) => {
    const opened: PaymentStorage[] = [];
    onCleanup(async () => {
      for (const storage of opened) await storage.close();
    });
    return async (options: PostgresOptions = {}): Promise<PaymentStorage> => {
      const given = { schema: database.schema, clock: "caller", ...options } as const;
      const storage = paymentStorage(await postgresStorage(proxy.url, given));
      opened.push(storage);
      await storage.fact("");
      return storage;
    };
  })
  .extend("stranger", async ({ database }, { onCleanup }) => {
    const stranger = new pg.Client({ connectionString: database.url });
    await stranger.connect();
    await stranger.query(`set search_path to "${database.schema}"`);
    onCleanup(async () => {
      await stranger.query("drop function if exists bad cascade; drop sequence if exists cancelled");
      await stranger.end();
    });
    return stranger;
  });

/** Carries this out in the server for each fact with the id `bad` that is inserted. */
const whenBad = (act: string, when = `before insert on "paystateFacts" for each row`): string =>
  `create function bad() returns trigger language plpgsql as $body$ begin ${act}; return new; end $body$;
   create ${when.startsWith("after") ? "constraint " : ""}trigger bad ${when} when (new.id = 'bad') execute function bad()`;

/** A group of 255 facts with this one among them: its answer, and the words for the others. */
async function among(
  storage: PaymentStorage,
  bad: PaymentCommit,
): Promise<{ bad: CommitAnswer | undefined; others: Set<string> }> {
  const good = IDS.map((id) => fact(id));
  const answers = await storage.commit([...good.slice(0, 100), bad, ...good.slice(100)]);
  return { bad: answers[100], others: new Set(answers.toSpliced(100, 1).map(wordOf)) };
}

const there = async (storage: PaymentStorage): Promise<string[]> => {
  const found = await Promise.all(IDS.map((id) => storage.fact(id)));
  return found.filter((id) => id !== null);
};

afterEach(() => void vi.useRealTimers());

describe.skipIf(!HAS_POSTGRES)("answers of PostgreSQL", () => {
  test("D12: a row that the server refuses fails alone, with the server's reason", async ({
    through,
    stranger,
  }) => {
    const storage = await through();
    await stranger.query(whenBad("raise exception 'too large' using errcode = '22003'"));
    const { bad, others } = await among(storage, { starts: [startOf("i")], ...fact("bad") });
    expect(bad).toMatchObject({ conflict: "failed", error: { code: "22003", message: "too large" } });
    expect(others).toEqual(new Set(["ok"]));
    expect(await there(storage)).toEqual(IDS);
    expect(await storage.load("i")).toBeNull();
  });

  test.for(["perform no_such_function()", "perform 1 from no_such_table", "perform no_such_schema.f()"])(
    "D12: an item that meets what its host's own trigger lacks fails alone: %s",
    async (act, { through, stranger }) => {
      const storage = await through();
      await stranger.query(whenBad(act));
      const { bad, others } = await among(storage, fact("bad"));
      expect(bad).toMatchObject({ conflict: "failed" });
      expect(others).toEqual(new Set(["ok"]));
      expect(await there(storage)).toEqual(IDS);
    },
  );

  test("D12: an error at COMMIT itself fails its own item, and no other", async ({ through, stranger }) => {
    const storage = await through();
    await stranger.query(
      whenBad(
        "raise exception 'not so' using errcode = '23514'",
        `after insert on "paystateFacts" deferrable initially deferred for each row`,
      ),
    );
    const { bad, others } = await among(storage, fact("bad"));
    expect(bad).toMatchObject({ conflict: "failed", error: { code: "23514", message: "not so" } });
    expect(others).toEqual(new Set(["ok"]));
    expect(await there(storage)).toEqual(IDS);
  });

  test("D12: a statement that takes too long fails its own item, and the others are made once", async ({
    through,
    stranger,
  }) => {
    const storage = await through({ statementTimeoutMs: 300 });
    await stranger.query(whenBad("perform pg_sleep(60)"));
    const { bad, others } = await among(storage, fact("bad"));
    expect(bad).toMatchObject({ conflict: "failed", error: { code: "busy" } });
    expect(others).toEqual(new Set(["ok"]));
    expect(await there(storage)).toEqual(IDS);
  });

  test.for(
    range(7).flatMap((nth) => (["before", "after"] as const).map((moment) => [nth + 1, moment] as const)),
  )(
    "D12: a connection that is lost at message %i, %s its commit: every item is made once and answered truthfully",
    async ([nth, moment], { proxy, through, stranger }) => {
      const storage = await through();
      await stranger.query(whenBad("raise exception 'not so'"));
      proxy.plan({ text: "paystate_commit", moment, nth });
      const { bad, others } = await among(storage, fact("bad"));
      expect(proxy.happened()).toBe(1);
      expect(bad).toMatchObject({ conflict: "failed", error: { message: "not so" } });
      expect(others).toEqual(new Set(["ok"]));
      expect(await there(storage)).toEqual(IDS);
    },
  );

  test("D12: a connection that breaks while it is written to is a lost one, though the code of the error looks like a state", async ({
    database,
  }) => {
    const pool = new pg.Pool({ connectionString: database.url });
    onTestFinished(() => pool.end());
    let broken = "";
    const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
    const breaking = async (): Promise<pg.PoolClient> => {
      const client = await connect();
      const query = client.query.bind(client) as (asked: { readonly text: string }) => Promise<unknown>;
      const asked = (what: { readonly text: string }): Promise<unknown> => {
        if (broken === "" || !what.text.includes(broken)) return query(what);
        broken = "";
        return Promise.reject(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
      };
      return Object.assign(client, { query: asked });
    };
    Object.assign(pool, { connect: breaking });
    const given = { schema: database.schema, clock: "caller", listen: false } as const;
    const storage = paymentStorage(await postgresStorage(pool, given));
    onTestFinished(() => storage.close());
    broken = "paystate_commit";
    expect(await storage.commit([fact("f0")])).toEqual([{ ok: true }]);
    broken = "facts";
    expect(await storage.fact("f0")).toBe("f0");
  });

  /** Lets time pass until the work is done; what the network brings has its turns meanwhile. */
  async function whileTimePasses<A>(work: Promise<A>): Promise<A> {
    let isDone = false;
    void work.finally(() => (isDone = true)).catch(() => {});
    while (!isDone) {
      await vi.advanceTimersByTimeAsync(100);
      for (let turns = 0; turns < 5; turns += 1) await new Promise((resolve) => void setImmediate(resolve));
    }
    return work;
  }

  test("D30: where the row of the writer is gone with the answer, as on a server that was promoted without it, the group is unknown and not sent again", async ({
    proxy,
    through,
    stranger,
  }) => {
    const storage = await through();
    await storage.commit([fact("first")]);
    await stranger.query(
      `create function forget() returns trigger language plpgsql as $body$
        begin delete from "paystateWriters"; return null; end $body$;
       create constraint trigger forget after insert on "paystateFacts" deferrable initially deferred
        for each row when (new.id = 'f0') execute function forget()`,
    );
    proxy.plan({ text: "paystate_commit", moment: "after" });
    const answers = await storage.commit(IDS.slice(0, 5).map((id) => fact(id)));
    await stranger.query("drop function forget cascade");
    expect(answers.map(wordOf)).toEqual(range(5).map(() => "unknown"));
    expect(await there(storage)).toEqual(IDS.slice(0, 5));
    expect(await storage.commit([fact("last")])).toEqual([{ ok: true }]);
  });

  test("D12: where the server is gone with the answer of a COMMIT, that group is unknown, and those behind it are not sent", async ({
    database,
    proxy,
    through,
  }) => {
    const storage = await through();
    proxy.plan({ text: "paystate_commit", moment: "silent" });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
    const group = storage.commit(IDS.map((id) => fact(id)));
    while (proxy.happened() === 0) await new Promise((resolve) => void setImmediate(resolve));
    proxy.lead(NOWHERE);
    const answers = await whileTimePasses(group);
    vi.useRealTimers();
    expect(answers.map(wordOf)).toEqual(IDS.map((_, index) => (index < 128 ? "unknown" : "failed")));
    proxy.lead(database.url);
    expect(await there(storage)).toEqual(IDS.slice(0, 128));
    const again = await storage.commit(IDS.slice(128).map((id) => fact(id)));
    expect(new Set(again.map(wordOf))).toEqual(new Set(["ok"]));
    expect(await there(storage)).toEqual(IDS);
  });
});
