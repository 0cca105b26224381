/**
 * Takes one order to its end: `npm start`, or `npm start -- order-2` for another. Kill it at any moment, with kill -9 or
 * the power switch, and start it again: the order goes on where it was.
 */
import { mkdirSync } from "node:fs";
import { createEngine } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";
import { orders } from "./order.ts";

const [id = "order-1"] = process.argv.slice(2);

// One file for one machine. For several machines: `npm install pg`, and postgresStorage of "paystate/storage/postgres".
mkdirSync("data", { recursive: true });
const storage = await sqliteStorage("data/orders.db");
// After a kill, the next start waits for the lease of the killed process: one second here.
const engine = createEngine({ storage, workflows: [orders], leaseMs: 1_000 });

const { ok } = await engine.start(orders, { id, input: { card: "4242", patienceMs: 10_000 } });
console.log(`${id} ${ok ? "begins" : "goes on"}: ${String((await engine.read(id))?.value)}`);
engine.run();
const { value, context } = await engine.waitFor(orders, id, "final");
console.log(`${id} has ended: ${value}, ${context.receipt}`);
await engine.stop();
await storage.close();
