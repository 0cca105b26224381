/** Compiled queries of a host in the commits of its charts: what an effect brings back, and what `project` returns. */
// modules: host-sql
import { setup } from "xstate";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createEngine, type EffectOutcome, type Engine, type StartRefusal, workflow } from "paystate/engine";
import type { CompiledQuery, EngineStorage, QueryRefusal } from "paystate/storage";
import { silentLogger } from "../../src/core/runtime.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { type HostConnection, type HostDatabase, hostDatabases } from "./host-world.ts";

type Told =
  { readonly type: "TAKEN"; readonly by: string } | { readonly type: "RESERVED" } | { readonly type: "GO" };

const chart = setup({
  types: { input: {} as { seat: string }, context: {} as { seat: string }, events: {} as Told },
  actions: { reserve: (_, _params: { seat: string }) => {} },
}).createMachine({
  id: "booking",
  context: ({ input }) => input,
  initial: "reserving",
  states: {
    reserving: {
      entry: { type: "reserve", params: ({ context }) => context },
      on: { RESERVED: "reserved", TAKEN: "refused" },
    },
    reserved: { on: { GO: "gone" } },
    refused: {},
    gone: { type: "final" },
  },
});

type Reserve = (seat: string, failures: number) => EffectOutcome<Told, unknown>;

const bookings = (
  reserve: Reserve,
  project: (value: unknown, id: string) => readonly CompiledQuery[] = () => [],
) =>
  workflow(chart)({
    version: 1,
    effects: { reserve: async ({ seat }, { failures }) => reserve(seat, failures) },
    project: ({ id, after }) => project(after.value, id),
  });

describe.each(hostDatabases)("queries of a chart on $name", ({ name, make }) => {
  let database: HostDatabase;
  let storage: EngineStorage;
  let host: HostConnection;
  const clock = virtualClock();
  const engines: Engine<unknown>[] = [];

  beforeEach(async () => {
    database = await make();
    storage = await database.open();
    host = await database.connect();
  });
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.stop();
    await storage.close();
    await database.destroy();
  });

  const seat = (id: string): CompiledQuery => ({
    sql: `insert into ${database.orders} (id) values (${name === "PostgreSQL" ? "$1" : "?"})`,
    parameters: [id],
  });
  const seats = async (): Promise<unknown[]> => {
    const rows = await host.ask(`select id from ${database.orders} order by id`);
    return rows.map((row) => (row as { readonly id: string }).id);
  };
  function engineOf(booking: ReturnType<typeof bookings>): Engine<unknown> {
    const engine = createEngine({ storage, workflows: [booking], clock, logger: silentLogger });
    engines.push(engine);
    engine.run();
    return engine;
  }
  const start = (engine: Engine<unknown>, booking: ReturnType<typeof bookings>, id: string) =>
    engine.start(booking, { id, input: { seat: "1A" } });

  test("F3: a seat is there with the end of its effect, and of a unique violation the handler makes an event", async () => {
    const refusals: (QueryRefusal | StartRefusal)[] = [];
    const booking = bookings((id) => ({
      event: { type: "RESERVED" },
      queries: [seat(`row of ${id}`), seat(id)].toReversed(),
      refused(refusal) {
        refusals.push(refusal);
        return { type: "TAKEN", by: refusal.kind };
      },
    }));
    const engine = engineOf(booking);
    await start(engine, booking, "a");
    await engine.settled();
    await start(engine, booking, "b");
    await engine.settled();
    expect((await engine.read(booking, "a"))?.value).toBe("reserved");
    expect((await engine.read(booking, "b"))?.value).toBe("refused");
    expect(await seats()).toEqual(["1A", "row of 1A"]);
    expect(refusals).toMatchObject([{ query: 0, kind: "unique" }]);
    expect(await storage.tasks({ order: "instance", instance: "b", limit: 10 })).toEqual([]);
  });

  test("F3: what project returns is there with each step, and where it is refused so is the step", async () => {
    const booking = bookings(
      () => ({ event: { type: "RESERVED" }, queries: [seat("own")] }),
      (value, id) => (value === "reserving" ? [] : [seat(`${id} ${String(value)}`)]),
    );
    const engine = engineOf(booking);
    await start(engine, booking, "a");
    await engine.settled();
    expect(await seats()).toEqual(["a reserved", "own"]);
    await host.ask(`insert into ${database.orders} (id) values ('a gone')`);
    expect(await engine.send(booking, "a", { type: "GO" })).toMatchObject({
      kind: "refused",
      result: { ok: false, conflict: "query", refusal: { kind: "unique", query: 0 } },
    });
    expect((await engine.read(booking, "a"))?.value).toBe("reserved");
    await host.ask(`delete from ${database.orders}`);
    expect(await engine.send(booking, "a", { type: "GO" })).toMatchObject({ kind: "stepped" });
    expect(await seats()).toEqual(["a gone"]);
  });

  test("D64: what project returns for a start within a transaction of the host is there with the host's own rows, or with none of them", async () => {
    const booking = bookings(
      () => ({}),
      (_, id) => [seat(id), seat(`${id}, too`)],
    );
    const engine = engineOf(booking);
    await engine.ready();
    const started = async (id: string): Promise<void> =>
      engine.start(booking, { id, input: { seat: "1A" } }, { within: host.host });
    await host.ask("begin");
    await host.ask(`insert into ${database.orders} (id) values ('own')`);
    await started("a");
    await host.ask("rollback");
    expect([await seats(), await engine.read(booking, "a")]).toEqual([[], null]);

    await host.ask("begin");
    await host.ask(`insert into ${database.orders} (id) values ('own')`);
    await started("a");
    await host.ask(`insert into ${database.orders} (id) values ('b, too')`);
    // Caught, what was refused leaves no trace, and the transaction goes on.
    await expect(started("b")).rejects.toMatchObject({
      name: "CommitRefused",
      result: { conflict: "query", refusal: { query: 1, kind: "unique" } },
    });
    await host.ask("commit");
    expect(await seats()).toEqual(["a", "a, too", "b, too", "own"]);
    expect(await engine.read(booking, "b")).toBeNull();
    expect((await engine.read(booking, "a"))?.value).toBe("reserving");
  });

  test("D64: a query that fails within a transaction of the host says so by its place, and takes its start back", async () => {
    const booking = bookings(
      () => ({}),
      (_, id) => [seat(id), { sql: "insert into nowhere (id) values (1)", parameters: [] }],
    );
    const engine = engineOf(booking);
    await engine.ready();
    await host.ask("begin");
    const started = async (): Promise<void> =>
      engine.start(booking, { id: "a", input: { seat: "1A" } }, { within: host.host });
    for (let time = 0; time < 2; time++) await expect(started()).rejects.toThrow(/queries\.1: .*nowhere/);
    await host.ask("commit");
    expect([await seats(), await engine.read(booking, "a")]).toEqual([[], null]);
  });
});
