/** Acts: asked before, carried out once, recorded with who and why; refused from elsewhere, and where viewers only look. */
import { expect, test } from "vitest";
import { createInspector } from "../../src/index.ts";
import { createEngine } from "../../src/engine/index.ts";
import type { Logger } from "../../src/runtime.ts";
import { memoryStorage } from "../../storage/memory.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { parcels } from "./parcel.ts";
import { taskIdAt } from "../kit/task-ids.ts";

const AT = "http://127.0.0.1:3210/_inspector";
const SAME = { origin: "http://127.0.0.1:3210", "content-type": "application/x-www-form-urlencoded" };

const opened = (options: { readonly acts?: boolean } = { acts: true }) => {
  const lines: unknown[] = [];
  const silent = (): void => {};
  const logger: Logger = {
    debug: silent,
    warn: silent,
    error: silent,
    info: (fields) => void lines.push(fields),
  };
  const workflow = parcels({ label: async () => Promise.reject(new Error("out of paper")) });
  const clock = virtualClock();
  const engine = createEngine({ storage: memoryStorage(), workflows: [workflow], clock, logger });
  const { fetch } = createInspector({ engine, clock, ...options });
  const get = async (path: string): Promise<string> => (await fetch(new Request(AT + path))).text();
  const post = (fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = SAME) =>
    fetch(
      new Request(`${AT}/act`, {
        method: "POST",
        headers,
        body: new URLSearchParams({ actor: "ada", reason: "a test", ...fields }).toString(),
      }),
    );
  return { engine, workflow, lines, get, post };
};

test("an event is sent after a page that says what will happen, and who did it stands in the log", async () => {
  const { engine, workflow, lines, get, post } = opened();
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  expect(await get("/instance?id=p1")).toContain("Send an event …");
  expect(await get("/act?id=p1&do=send")).toContain("The event is handed to the instance.");
  expect((await engine.read("p1"))?.steps).toBe(1);
  const answer = await post({ id: "p1", do: "send", event: '{"type":"PAUSE"}' });
  expect([answer.status, await answer.text()]).toEqual([
    200,
    expect.stringContaining("The event made a step."),
  ]);
  expect((await engine.read("p1"))?.value).toBe("paused");
  expect(lines).toContainEqual({ instance: "p1", act: "send", actor: "ada", reason: "a test" });
});

test("what fails is tried again, and an instance is stopped", async () => {
  const { engine, workflow, get, post } = opened();
  engine.run();
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  await engine.settled();
  expect(await get("/instance?id=p1")).toContain("Try label again …");
  expect(
    (await post({ id: "p1", do: `retry ${await taskIdAt(engine, "p1", { step: 2, index: 1 })}` })).status,
  ).toBe(200);
  expect((await post({ id: "p1", do: "stop" })).status).toBe(200);
  expect((await engine.read("p1"))?.status).toBe("stopped");
  const again = await post({ id: "p1", do: "stop" });
  expect([again.status, await again.text()]).toEqual([
    409,
    expect.stringContaining("the instance has moved on"),
  ]);
  await engine.stop({ timeoutMs: 0 });
});

test("an act without a name, a reason or a fitting event is refused, and nothing has changed", async () => {
  const { engine, workflow, post } = opened();
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  for (const wrong of [
    { actor: " " },
    { reason: "" },
    { event: "" },
    { event: "{oops" },
    { event: "xstate.done.actor.scale" },
    { event: "$started" },
    { do: "constructor" },
  ]) {
    expect((await post({ id: "p1", do: "send", event: "PAUSE", ...wrong })).status).toBe(409);
  }
  expect((await engine.read("p1"))?.steps).toBe(1);
});

test("another site's request, one that hides where it is from, and one through another name are refused", async () => {
  const { engine, workflow, post } = opened();
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  const type = { "content-type": SAME["content-type"] };
  for (const headers of [
    { ...type, origin: "https://evil.example" },
    { ...type, origin: "null" },
    { ...SAME, "sec-fetch-site": "cross-site" },
    { ...SAME, "sec-fetch-site": "same-site" },
    { ...SAME, "sec-fetch-site": "none" },
    type,
  ]) {
    expect((await post({ id: "p1", do: "send", event: "PAUSE" }, headers)).status).toBe(403);
  }
  expect((await engine.read("p1"))?.steps).toBe(1);
});

test("without acts: true viewers only look: no button, no page, no act", async () => {
  const { engine, workflow, get, post } = opened({});
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  expect(await get("/instance?id=p1")).not.toContain("What you can do");
  expect(await get("/act?id=p1&do=send")).toContain("This inspector only shows.");
  expect((await post({ id: "p1", do: "send", event: "PAUSE" })).status).toBe(403);
  expect((await engine.read("p1"))?.steps).toBe(1);
});
