/**
 * Two processes on one PostgreSQL database, one of which is killed: `npx tsx examples/postgres-two-workers/main.ts URL`.
 *
 * Both take the work that is due. When one dies its tasks are taken by the other as soon as their leases have run out, and
 * every order ends.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createEngine } from "paystate/engine";
import { postgresStorage } from "paystate/storage/postgres";
import { orderAt } from "./order.ts";

const [url, worker] = process.argv.slice(2);
if (url === undefined) throw new Error("expected the URL of a PostgreSQL database");

const storage = await postgresStorage(url, { schema: "two_workers" });
const order = orderAt(worker ?? "nobody", (line) => {
  console.log(line);
  process.send?.(line);
});
const engine = createEngine({ storage, workflows: [order], leaseMs: 2_000, slots: 4 });

if (worker === undefined) {
  const started = Date.now();
  const ids = Array.from({ length: 20 }, (_, index) => `order-${started}-${index}`);
  for (const id of ids) await engine.start(order, { id, input: undefined });
  const main = fileURLToPath(import.meta.url);
  const workers = ["left", "right"].map((name) => fork(main, [url, name]));
  const [left, right] = workers;
  await new Promise((resolve) => left?.once("message", resolve));
  console.log("left is killed");
  left?.kill("SIGKILL");
  await Promise.all(ids.map((id) => engine.waitFor(order, id, "final")));
  console.log(`all ${ids.length} orders are gone`);
  right?.kill("SIGTERM");
  await storage.close();
} else {
  engine.run();
  process.once("SIGTERM", () => {
    process.disconnect?.();
    void engine.stop().then(() => storage.close());
  });
}
