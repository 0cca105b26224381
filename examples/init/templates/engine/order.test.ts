import assert from "node:assert/strict";
import { test } from "node:test";
import { createEngine } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";
import { passTime, virtualClock } from "paystate/testing";
import { orders } from "./order.ts";

const DAY_MS = 86_400_000;

/** An engine on a clock that the test turns. */
async function world() {
  const clock = virtualClock();
  const storage = await sqliteStorage(":memory:");
  const engine = createEngine({ storage, workflows: [orders], clock });
  engine.run();
  await engine.start(orders, { id: "o-1", input: { card: "4242", patienceMs: DAY_MS } });
  await engine.waitFor(orders, "o-1", { state: "waiting" });
  const pass = (ms: number) => passTime({ clock, engine, storage, workflows: [orders] }, clock.now() + ms);
  return { engine, pass };
}

test("an order is sent when its day is over", async () => {
  const { engine, pass } = await world();
  await pass(DAY_MS - 1);
  assert.equal((await engine.read(orders, "o-1"))?.value, "waiting");
  await pass(1);
  assert.equal((await engine.read(orders, "o-1"))?.value, "sent");
  await engine.stop();
});

test("a customer may cancel until then", async () => {
  const { engine, pass } = await world();
  await engine.send(orders, "o-1", { type: "CANCEL" });
  await pass(DAY_MS);
  assert.equal((await engine.read(orders, "o-1"))?.value, "cancelled");
  await engine.stop();
});
