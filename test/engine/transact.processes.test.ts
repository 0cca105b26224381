/** Handlers' transactions in processes that are killed between any two messages: each has happened once. */
// modules: host-sql
import { spawn } from "node:child_process";
import { once } from "node:events";
import pg from "pg";
import { describe, expect } from "vitest";
import { createEngine } from "paystate/engine";
import { silentLogger } from "../../src/core/runtime.ts";
import { postgresTest } from "../kit/postgres-test.ts";
import { byDepth, THOROUGH } from "../kit/thorough.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import { program } from "../programs/programs.ts";
import { movesIn, transfersThat } from "./transfers.ts";

const FEW = { transfers: 40, deaths: 8, span: 60 };
const {
  transfers: TRANSFERS,
  deaths: DEATHS,
  span: SPAN,
} = byDepth({ quick: FEW, ci: FEW, long: { transfers: 1_000, deaths: 100, span: 120 } });

const test = postgresTest.extend("table", async ({ database }, { onCleanup }) => {
  const table = `public.moves_of_${database.schema}`;
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query(
    `create table ${table} (transfer text); create table ${table}_sum (number integer); insert into ${table}_sum values (0)`,
  );
  onCleanup(async () => {
    await client.query(`drop table ${table}, ${table}_sum`);
    await client.end();
  });
  return { name: table, ask: async (sql: string) => (await client.query<object>(sql)).rows };
});

describe.skipIf(!HAS_POSTGRES)("killed transactions of handlers", () => {
  test(
    `F4: ${TRANSFERS} transfers are made once each, with ${DEATHS} deaths between any two messages of their transactions`,
    { timeout: THOROUGH ? 3_600_000 : 120_000 },
    async ({ database, table }) => {
      const storage = await database.open();
      const transfers = transfersThat({ transact: movesIn(table.name) });
      const engine = createEngine({ storage, workflows: [transfers], logger: silentLogger });
      const ids = Array.from({ length: TRANSFERS }, (_, index) => `t-${String(index).padStart(4, "0")}`);
      for (const id of ids) await engine.start(transfers, { id, input: undefined });

      let deaths = 0;
      for (let isDone = false; !isDone;) {
        const dieAfter = deaths < DEATHS ? 1 + ((deaths * 37) % SPAN) : 0;
        const args = [...program("transfer-runner"), database.url, database.schema, table.name];
        const child = spawn(process.execPath, [...args, String(dieAfter)], { stdio: "inherit" });
        const [code] = (await once(child, "close")) as [number | null];
        isDone = code === 0;
        if (!isDone) deaths += 1;
        expect(deaths).toBeLessThanOrEqual(DEATHS);
      }

      expect(deaths).toBe(DEATHS);
      const rows = await table.ask(`select transfer from ${table.name} order by transfer`);
      expect(rows).toEqual(ids.map((transfer) => ({ transfer })));
      expect(await table.ask(`select number from ${table.name}_sum`)).toEqual([{ number: TRANSFERS }]);
      for (const id of ids) expect((await engine.read(transfers, id))?.status).toBe("done");
      await engine.stop();
      await storage.close();
    },
  );
});
