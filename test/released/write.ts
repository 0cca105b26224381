/**
 * Writes the database of the present version, with orders in every state, and the chain that they are on, for versions that
 * have none yet: `npx tsx test/released/write.ts`. To be run once for each version, before it is released; what older ones
 * have left is never written again. It needs PostgreSQL's programs.
 */
// modules: private, webhooks
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { SOL_MINT } from "../../src/core/address.ts";
import { moveToPostgres } from "../../storage/move.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import type { EngineStorage } from "../../storage/storage.ts";
import { chainFixture } from "../kit/chain-fixture.ts";
import { startHttpsReceiver } from "../kit/https-receiver.ts";
import { sharedCertificate } from "../kit/loopback-certificate.ts";
import { postgresPrograms, startPostgres } from "../kit/postgres-server.ts";
import { solAt150 } from "../kit/money.ts";
import { swapFixture } from "../kit/swap-fixture.ts";
import { ended } from "./ended.ts";
import { type Making, Verdicts } from "./orders.ts";
import { fileOf, openedBy, type Released, SCHEMA, standingsIn, statesIn } from "./released.ts";
import { atRest, underWay, unprovable } from "./under-way.ts";

/** A world on these files, whose host screens, and whose desk has prices that change. */
async function openWorld(storage: EngineStorage, journal: string): Promise<Making> {
  const certificate = await sharedCertificate();
  const verdicts = new Verdicts();
  const market = { factor: 1n };
  const on = await chainFixture({ journal });
  const solAndStablecoins = solAt150(on);
  const world = await swapFixture({
    options: {
      storage,
      on,
      broadcastDelayMs: 5_000,
      webhooks: { ca: certificate.ca, allowAddress: (ip) => ip === "127.0.0.1" },
    },
    routing: { screen: verdicts.screen },
    desk: {
      prices: {
        async rate(give, get) {
          const rate = await solAndStablecoins.rate(give, get);
          return get === SOL_MINT ? { ...rate, give: rate.give * market.factor } : rate;
        },
      },
    },
  });
  const caller = await world.caller("pro");
  const alice = world.wallet("alice", { lamports: 50_000_000_000n, usdc: 5_000_000_000n });
  const payees = PAYEES.map((name) => world.wallet(name, { lamports: 1_000_000_000n, usdc: 1n }));
  world.chain.advance(35);
  const receiver = await startHttpsReceiver({ certificate, now: () => world.clock.now() });
  return { world, receiver, verdicts, market, own: new Set(), caller, alice, payees };
}

/** More than one chunk pays. */
const PAYEES = ["bob", "carol", "dora", "ernie", "finn", "greta", "hugo", "ines"];

async function write(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-released-"));
  const [path, journal] = [join(folder, "payments.db"), join(folder, "chain")];
  const storage = await sqliteStorage(path);
  const making = await openWorld(storage, journal);
  const { world } = making;
  await ended(making);
  await atRest(making);
  await unprovable(making);
  await underWay(making);
  const released: Released = {
    now: world.clock.now(),
    slot: world.chain.slot(),
    orders: await standingsIn(world.storage),
    states: await statesIn(world.storage),
  };
  await world.close();
  await making.receiver.close();
  await storage.close();
  const server = await startPostgres();
  copyFileSync(path, join(folder, "moved.db"));
  await moveToPostgres({ from: join(folder, "moved.db"), to: server.url, schema: SCHEMA });
  const dump = execFileSync(
    join(postgresPrograms() ?? "", "pg_dump"),
    ["--inserts", "--rows-per-insert=100", "--no-owner", `--schema=${SCHEMA}`, server.url],
    { encoding: "utf8", maxBuffer: 2 ** 28 },
  );
  await server.stop();
  writeFileSync(fileOf("json"), `${JSON.stringify(released, null, 2)}\n`);
  for (const [kind, bytes] of [
    ["db", readFileSync(path)],
    ["chain", readFileSync(journal)],
    ["sql", openedBy(dump)],
  ] as const) {
    writeFileSync(fileOf(kind), gzipSync(bytes, { level: 9 }));
  }
  rmSync(folder, { recursive: true });
}

if (!existsSync(fileOf("json"))) await write();
