/**
 * Writes the database of the present version, with orders in every state, and the chain that they are on, for versions that
 * have none yet: `npx tsx test/released/write.ts`. To be run once for each version, before it is released; what older ones
 * have left is never written again. It needs PostgreSQL's programs.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { moveToPostgres } from "../../storage/postgres.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { chainFixture } from "../kit/chain-fixture.ts";
import { postgresPrograms, startPostgres } from "../kit/postgres-server.ts";
import { units } from "../kit/private-fixture.ts";
import { swapFixture, type SwapFixture } from "../kit/swap-fixture.ts";
import { fileOf, openedBy, type Released, SCHEMA, standingsIn } from "./released.ts";

/** What is sent while it loses does not land, also when it is sent again. */
function losing({ chain }: SwapFixture): { isOn: boolean } {
  const state = { isOn: true };
  const lost = new Set<unknown>();
  chain.faults.add(({ method, params }) => {
    if (method !== "sendTransaction") return undefined;
    if (state.isOn) lost.add(params[0]);
    return lost.has(params[0]) ? { kind: "drop" } : undefined;
  });
  return state;
}

/** Orders that have ended, each in another way. */
async function ended(world: SwapFixture): Promise<void> {
  const { service, chain } = world;
  const caller = await world.caller();
  const alice = world.wallet("alice", { lamports: 50_000_000_000n, usdc: 5_000_000_000n });
  const payees = ["bob", "carol", "dora"].map((name) =>
    world.wallet(name, { lamports: 1_000_000_000n, usdc: 1n }),
  );
  chain.advance(35);
  const send = { from: alice, to: payees[0]?.address ?? "", amount: "3" };

  await world.send(caller, send);
  await world.pass(5_000);
  await world.finalize();

  const { transactionId } = await world.send(caller, send);
  await service.cancelTransaction(caller, transactionId);

  const loses = losing(world);
  await world.send(caller, send);
  await world.pass(5_000);
  chain.advance(200);
  await world.finalize();
  loses.isOn = false;

  await world.swap(caller, { sender: alice, give: "USDC", get: "SOL", amount: "30" });
  await world.pass(5_000);
  await world.finalize();

  const to = payees.map(({ address }) => ({ address, amount: "5" }));
  const paid = await world.order(caller, { sender: alice, to });
  await world.deposit(paid.body.ephemeralAddress, { usdc: units(paid.body.depositAmount, 6) });
  await world.settle();
  await world.sweep();

  const swap = await world.orderSwap(caller, { sender: alice, give: "USDC", get: "SOL", amount: "30" });
  await world.deposit(swap.body.ephemeralAddress, { usdc: units(swap.body.depositAmount, 6) });
  await world.settle();

  const short = await world.order(caller, { sender: alice, to });
  await world.order(caller, { sender: alice, to: to.slice(0, 1) });
  await world.deposit(short.body.ephemeralAddress, { usdc: 1_000_000n });
  await world.pass(2 * 3_600_000);
  await world.settle();
}

/** Orders that are under way: from the first to the last no time passes but slots. */
async function underWay(world: SwapFixture): Promise<void> {
  const { chain } = world;
  const caller = await world.caller("pro");
  const alice = world.wallet("alice");
  const to = ["bob", "carol"].map((name) => ({ address: world.wallet(name).address, amount: "4" }));
  const send = { from: alice, to: to[0]?.address ?? "", amount: "2" };
  const order = (payees: number) => world.order(caller, { sender: alice, to: to.slice(0, payees) });
  const [lost, paying, seen] = [await order(1), await order(1), await order(2)];
  await order(1);
  const loses = losing(world);
  for (const { body } of [lost, paying]) {
    await world.deposit(body.ephemeralAddress, { usdc: units(body.depositAmount, 6) });
    loses.isOn = false;
  }
  await world.send(caller, send);
  await world.pass(5_000);
  loses.isOn = true;
  await world.send(caller, { ...send, amount: "2.1" });
  await world.pass(5_000);
  chain.fund(seen.body.ephemeralAddress, { usdc: units(seen.body.depositAmount, 6) });
  for (let look = 0; look < 6; look += 1) {
    chain.advance(2);
    await world.pass(5_000);
  }
  await world.send(caller, { ...send, amount: "2.2" });
}

async function write(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-released-"));
  const [path, journal] = [join(folder, "payments.db"), join(folder, "chain")];
  const storage = await sqliteStorage(path);
  const world = await swapFixture({
    options: { storage, on: await chainFixture({ journal }), broadcastDelayMs: 5_000 },
  });
  await ended(world);
  await underWay(world);
  const released: Released = {
    now: world.clock.now(),
    slot: world.chain.slot(),
    orders: await standingsIn(world.storage),
  };
  await world.close();
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
