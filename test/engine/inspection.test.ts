/** XState's own inspectors are told of each committed step, by the real package over its real WebSocket. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createWebSocketInspector } from "@statelyai/inspect";
import { expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import { createEngine } from "../../src/engine/index.ts";
import { silentLogger, type Logger } from "../../src/core/runtime.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { turns } from "../kit/engine-world.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { parcels } from "../inspector/parcel.ts";
import { eventually } from "../kit/eventually.ts";

interface Told {
  readonly type: string;
  readonly sessionId: string;
  readonly definition?: string;
  readonly event?: { readonly type: string };
  readonly snapshot?: { readonly value: unknown; readonly context: unknown };
}

test("an inspector of @statelyai/inspect gets the actor with its chart, then each event with the state after it", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  const told: Told[] = [];
  server.on("connection", (socket) => {
    socket.on("message", (data) => told.push(JSON.parse((data as Buffer).toString("utf8")) as Told));
  });
  const { port } = server.address() as AddressInfo;
  const inspector = createWebSocketInspector({ url: `ws://127.0.0.1:${port}` });
  const chart = parcels();
  const clock = virtualClock();
  const { inspect } = inspector;
  const engine = createEngine({
    storage: await sqliteStorage(":memory:"),
    workflows: [chart],
    clock,
    inspect,
  });
  try {
    await engine.start(chart, { id: "p1", input: { note: "x" } });
    await engine.send(chart, "p1", { type: "PAUSE" });
    await eventually(() => expect(told).toHaveLength(5));
    const line = ({ type, sessionId, event, snapshot }: Told): unknown[] => [
      type,
      sessionId,
      ...(event === undefined ? [] : [event.type]),
      ...(type === "@xstate.snapshot" ? [snapshot?.value] : []),
    ];
    expect(told.map(line)).toEqual([
      ["@xstate.actor", "p1"],
      ["@xstate.event", "p1", "xstate.init"],
      ["@xstate.snapshot", "p1", "xstate.init", { packing: "weighing" }],
      ["@xstate.event", "p1", "PAUSE"],
      ["@xstate.snapshot", "p1", "PAUSE", "paused"],
    ]);
    const [actor] = told;
    expect(JSON.parse(actor?.definition ?? "{}")).toMatchObject({ id: "parcel", initial: "packing" });
    expect(told.at(-1)?.snapshot?.context).toEqual({ note: "x", weight: 0 });
  } finally {
    inspector.stop();
    await engine.stop();
    for (const client of server.clients) client.terminate();
    server.close();
  }
});

test("D82: an inspector whose promise rejects is logged, and ends no process", async () => {
  const rejected: unknown[] = [];
  const heard = (reason: unknown): void => void rejected.push(reason);
  process.on("unhandledRejection", heard);
  onTestFinished(() => void process.off("unhandledRejection", heard));
  const chart = parcels();
  const errors: string[] = [];
  const logger: Logger = { ...silentLogger, error: (_, text) => void errors.push(text ?? "") };
  const inspect = (): never => Promise.reject(new Error("the window is closed")) as never;
  const engine = createEngine({
    storage: await sqliteStorage(":memory:"),
    workflows: [chart],
    clock: virtualClock(),
    logger,
    inspect,
  });
  await engine.start(chart, { id: "p1", input: { note: "x" } });
  await turns(2);
  expect(new Set(errors)).toEqual(new Set(["an inspector failed"]));
  expect(rejected).toEqual([]);
});

test("what is no inspector is refused with what would be right", async () => {
  const options = { storage: await sqliteStorage(":memory:"), workflows: [], inspect: "yes" };
  expect(() => createEngine(options as never)).toThrow(
    "inspect: expected a function, or what an inspector of XState has",
  );
});
