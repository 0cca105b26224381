/** Acts: asked before, carried out once, recorded with who and why; refused from elsewhere, and where viewers only look. */
// modules: jobs, search
import { expect, test } from "vitest";
import { createInspector } from "../../src/inspector.ts";
import { setup } from "xstate";
import { type AnyWorkflow, createEngine, workflow as durable } from "../../src/engine/index.ts";
import type { Logger } from "../../src/core/runtime.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { parcels } from "./parcel.ts";
import { taskIdAt } from "../kit/task-ids.ts";
import { viewerOf, FORM } from "./viewer.ts";

const opened = async (options: { readonly acts?: boolean } = { acts: true }, other?: AnyWorkflow) => {
  const lines: unknown[] = [];
  const silent = (): void => {};
  const logger: Logger = {
    debug: silent,
    warn: silent,
    error: silent,
    info: (fields) => void lines.push(fields),
  };
  const parcel = parcels({ label: async () => Promise.reject(new Error("out of paper")) });
  const clock = virtualClock();
  const engine = createEngine({
    storage: await sqliteStorage(":memory:"),
    workflows: other === undefined ? [parcel] : [parcel, other],
    clock,
    logger,
  });
  const { html: get, act: post } = viewerOf(createInspector({ engine, clock, ...options }));
  return { engine, workflow: parcel, lines, get, post };
};

test("an event is sent after a page that says what will happen, and who did it stands in the log", async () => {
  const { engine, workflow, lines, get, post } = await opened();
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
  const { engine, workflow, get, post } = await opened();
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
  const { engine, workflow, post } = await opened();
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
  const { engine, workflow, post } = await opened();
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  const type = { "content-type": FORM["content-type"] };
  for (const headers of [
    { ...type, origin: "https://evil.example" },
    { ...type, origin: "null" },
    { ...FORM, "sec-fetch-site": "cross-site" },
    { ...FORM, "sec-fetch-site": "same-site" },
    { ...FORM, "sec-fetch-site": "none" },
    type,
  ]) {
    expect((await post({ id: "p1", do: "send", event: "PAUSE" }, headers)).status).toBe(403);
  }
  expect((await engine.read("p1"))?.steps).toBe(1);
});

test("without acts: true viewers only look: no button, no page, no act", async () => {
  const { engine, workflow, get, post } = await opened({});
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  expect(await get("/instance?id=p1")).not.toContain("What you can do");
  expect(await get("/act?id=p1&do=send")).toContain("This inspector only shows.");
  expect((await post({ id: "p1", do: "send", event: "PAUSE" })).status).toBe(403);
  expect((await engine.read("p1"))?.steps).toBe(1);
});

const customers = durable(
  setup({
    types: {
      context: {} as { customer: string },
      input: {} as { customer: string },
      events: {} as { type: "CANCEL" },
    },
  }).createMachine({
    id: "order",
    context: ({ input }) => input,
    initial: "open",
    states: { open: { on: { CANCEL: "cancelled" } }, cancelled: {} },
  }),
)({ version: 1, search: { customer: ({ context }) => context.customer } });

test("F8: an instance that is called as a list is one takes none of its acts, nor gives its own away", async () => {
  const { engine, get, post } = await opened({ acts: true }, customers);
  const [id, called] = ["a", "each:order@1"];
  for (const each of [id, called]) await engine.start(customers, { id: each, input: { customer: "ada" } });
  const page = await get(`/instance?id=${encodeURIComponent(called)}`);
  expect([page.includes("do=stop"), page.includes("do=list")]).toEqual([true, false]);
  const list = await get("?workflow=order%401");
  expect([list.includes("do=stop"), list.includes("do=list+stop")]).toEqual([false, true]);
  expect((await post({ id: called, do: "stop" })).status).toBe(200);
  await engine.removeInstance(called);
  // Its form, sent once more: nobody has asked to stop the list.
  expect((await post({ id: called, do: "stop" })).status).toBe(409);
  expect(await engine.read(customers, id)).toMatchObject({ status: "active" });
  await engine.stop();
});

test("F8: a form that is sent twice begins one job", async () => {
  const { engine, get, post } = await opened({ acts: true }, customers);
  await engine.start(customers, { id: "a", input: { customer: "ada" } });
  const id = "each:order@1";
  const form = await get(`/act?${new URLSearchParams({ id, do: "list stop" }).toString()}`);
  const [, once = ""] = /name="once" value="([^"]+)"/.exec(form) ?? [];
  const sent = [await post({ id, do: "list stop", once }), await post({ id, do: "list stop", once })];
  expect(sent.map(({ status }) => status)).toEqual([200, 200]);
  const { instances } = await engine.list();
  expect(instances.map((each) => each.id).toSorted()).toEqual(["a", `each-${once}`]);
  await engine.stop();
});

test("F8: what a list holds is sent an event or stopped at once, after a page that says what will happen", async () => {
  const { engine, lines, get, post } = await opened({ acts: true }, customers);
  engine.run();
  for (const [id, customer] of Object.entries({ a: "ada", b: "ada", c: "bob" })) {
    await engine.start(customers, { id, input: { customer } });
  }
  expect(await get("")).not.toContain("all of this list");
  const list = await get("?workflow=order%401&where.customer=ada&where.colour=red");
  expect([list.includes("id=a"), list.includes("id=b"), list.includes("id=c")]).toEqual([true, true, false]);
  const id = "each:order@1?where.customer=ada";
  expect(list).toContain(
    `act?${new URLSearchParams({ id, do: "list send" }).toString()}`.replaceAll("&", "&amp;"),
  );
  expect(await get(`/act?${new URLSearchParams({ id, do: "list send" }).toString()}`)).toContain(
    "page by page",
  );
  expect((await post({ id, do: "list send", event: "" })).status).toBe(409);
  expect((await post({ id, do: "list send", event: "CANCEL" }, {})).status).toBe(403);
  const said = await (await post({ id, do: "list send", event: "CANCEL" })).text();
  const [job = ""] = /each-[0-9a-v]+/.exec(said) ?? [];
  await engine.waitFor(customers, "b", { state: "cancelled" });
  await engine.settled();
  expect((await engine.read(job))?.context).toMatchObject({ touched: 2 });
  expect((await engine.read(customers, "c"))?.value).toBe("open");
  expect(lines).toContainEqual({ instance: id, act: "list send", actor: "ada", reason: "a test" });
  const lost = await post({ id: "each:order@1?state=lost", do: "list stop" });
  expect([lost.status, await lost.text()]).toEqual([409, expect.stringContaining("has no state")]);
  expect((await post({ id: "each:other@1", do: "list stop" })).status).toBe(409);
  expect((await post({ id: "each:order@1?state=cancelled", do: "list stop" })).status).toBe(200);
  await engine.waitFor(customers, "a", "final");
  await engine.settled();
  expect((await engine.read("c"))?.status).toBe("active");
  expect(await get("?workflow=order%401&state=open")).toContain("id=c");
  await engine.stop();
});
