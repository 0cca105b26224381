/**
 * A chart with services in an Express app: `npx tsx examples/express/main.ts [orders.db]`, then
 *
 *     curl -X POST localhost:3000/orders/o-1 -H 'content-type: application/json' -d '{"card":"4242","amount":1250}'
 *     curl localhost:3000/orders/o-1
 *
 * Kill it at any moment and start it again on the same file: the orders go on. A card is charged under a key that is the
 * same on every run, so that the provider charges it once.
 */
// oxlint-disable oxc/no-async-endpoint-handlers -- Express 5 answers 500 when a handler rejects
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import express from "express";
import { createEngine, workflow } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";
import { isOrderInput, order } from "./order.ts";

const path = process.argv[2] ?? join(mkdtempSync(join(tmpdir(), "orders-")), "orders.db");
const storage = await sqliteStorage(path);
const orders = workflow(order)({ version: 1, actors: { charge: { retries: 3 } } });
const engine = createEngine({ storage, workflows: [orders] });
engine.run();

const app = express();
app.use(express.json());

/** The id comes from the caller, so that a request which is sent twice makes one order. */
app.post("/orders/:id", async (request, response) => {
  const { id } = request.params;
  const input: unknown = request.body;
  if (!isOrderInput(input)) {
    response.status(400).json({ error: "expected { card: string, amount: a whole number above 0 }" });
    return;
  }
  const { ok } = await engine.start(orders, { id, input });
  response.status(ok ? 201 : 200).json({ id });
});

app.post("/orders/:id/cancel", async (request, response) => {
  const { id } = request.params;
  const { kind } = await engine.send(orders, id, { type: "CANCEL" });
  if (kind === "absent") response.sendStatus(404);
  else if (kind === "stepped") response.json({ id, cancelled: true });
  else response.status(409).json({ id, cancelled: false });
});

app.get("/orders/:id", async (request, response) => {
  const found = await engine.read(orders, request.params.id);
  if (found === null) response.sendStatus(404);
  else response.json({ id: found.id, state: found.value, receipt: found.context.receipt });
});

const server = app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : address;
  console.log(`listening on http://127.0.0.1:${port}, orders are kept in ${path}`);
});

async function stop(): Promise<void> {
  server.close();
  server.closeAllConnections();
  await engine.stop(); // the next start does what is left
  await storage.close();
}
process.once("SIGTERM", () => void stop());
