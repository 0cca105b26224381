/** The inspector's pages: what they tell, that strangers' texts stay texts, and who may look. */
import { connect } from "node:net";
import { expect } from "vitest";
import { InvalidOptions } from "../../src/index.ts";
import { createInspector } from "../../src/inspector.ts";
import { listen } from "./browser-kit.ts";
import { parcels, type ParcelWorld } from "./parcel.ts";
import { parcelTest as test } from "./parcel-test.ts";
import { AT, viewerOf } from "./viewer.ts";

type Extra = Partial<Parameters<typeof createInspector>[0]>;

const inspect = ({ storage, workflow, clock }: ParcelWorld, extra: Extra = {}) => {
  return viewerOf(createInspector({ storage, workflows: [workflow], clock, ...extra })).get;
};

/** The page as a person reads it: without marks, in single spaces. */
const read = async (answer: Promise<Response>): Promise<string> =>
  (await (await answer).text())
    .replace(/<[^>]*>/g, "")
    .replace(/\s+/g, " ")
    .replaceAll("&quot;", '"');

const find = (id: string): string => `/instance?${new URLSearchParams({ id }).toString()}`;

test("an instance says why it waits, for an event, a timer, and a failing effect with its last error", async ({
  open,
}) => {
  let fails = true;
  const label = async () => {
    if (fails) throw new Error("the printer is out of paper, Bearer abc123secret");
    return undefined;
  };
  const world = await open({ label });
  const { engine, workflow, clock } = world;
  const ask = inspect(world);
  engine.run();
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  await engine.settled();
  const failing = await read(ask(find("p1")));
  expect(failing).toMatch(
    /It waits for the effect label, which has failed once, last with “.*the printer is out of paper, Bearer \*\*\*”; the next attempt is at 2026-01-01 00:00:0\d UTC\./,
  );
  expect(await read(ask())).toContain("Needs attention");
  fails = false;
  await engine.send(workflow, "p1", { type: "PAUSE" });
  clock.advance(60_000);
  await engine.settled();
  const paused = await read(ask(find("p1")));
  expect(paused).toContain("Its timer “after 15 min” fires at 2026-01-01 00:15:00 UTC.");
  expect(paused).toContain("Its last step was at 2026-01-01 00:00:00 UTC. It also answers RESUME.");
  expect(await read(ask())).not.toContain("Needs attention");
  await engine.send(workflow, "p1", { type: "RESUME" });
  expect(await read(ask(find("p1")))).toMatch(
    /for somebody to send one of PAUSE, ASK, SEND|the effect label/,
  );
});

test("the timeline has every step with its event, the state after it, and how long it took; an ended instance waits for nothing", async ({
  world,
}) => {
  const { engine, workflow, clock } = world;
  engine.run();
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  await engine.settled();
  await engine.send(workflow, "p1", { type: "PAUSE" });
  clock.advance(900_000);
  await engine.settled();
  const page = await read(inspect(world)(find("p1")));
  expect(page).toContain("It ended in lost at 2026-01-01 00:15:00 UTC, and waits for nothing.");
  for (const words of ["started", "scale is done", "PAUSE", "after 15 min", "15 min"]) {
    expect(page).toContain(words);
  }
  expect(page.indexOf("after 15 min", page.indexOf("Timeline"))).toBeLessThan(
    page.lastIndexOf("scale is done"),
  );
  expect(page).toContain("Nothing is pending.");
});

test("hostile ids, contexts and events are shown and stay text", async ({ world }) => {
  const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>'&amp;`;
  const { engine, workflow } = world;
  const ask = inspect(world);
  await engine.start(workflow, { id: hostile, input: { note: hostile } });
  for (const path of ["", find(hostile), find(`${hostile} absent`), "/health"]) {
    const page = await (await ask(path)).text();
    expect(page).not.toMatch(/<script(?! src="\/_inspector\/script\.js" defer)/);
    expect(page).not.toContain("<img");
    // Between quotes, whose own signs are escaped, any text may stand.
    expect(page.replace(/"[^"]*"/g, '""')).not.toMatch(/<[^>]*\son\w+=/);
  }
  expect(await (await ask(find(hostile))).text()).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
});

test("secrets in a context or an event never reach the page", async ({ world }) => {
  const { engine, workflow } = world;
  const secret = "ps_live_0011223344556677_8899aabbccddeeff";
  await engine.start(workflow, { id: "p1", input: { note: `key ${secret}` } });
  await engine.send(workflow, "p1", { type: "ASK", apiKey: "correct horse battery" });
  const page = await (await inspect(world)(find("p1"))).text();
  expect(page).toContain("***");
  expect(page).not.toContain("8899aabbccddeeff");
  expect(page).not.toContain("correct horse");
});

test("the list has the newest first, filters by chart and status, and pages on without missing or repeating one", async ({
  world,
}) => {
  const { engine, workflow, clock } = world;
  const ask = inspect(world);
  expect(await read(ask())).toContain("No instance has been started yet.");
  for (let index = 0; index < 120; index++) {
    clock.advance(1_000);
    await engine.start(workflow, { id: `p${String(index).padStart(3, "0")}`, input: { note: "x" } });
  }
  const seen: string[] = [];
  let path: string | undefined = "";
  while (path !== undefined) {
    const page: string = await (await ask(path)).text();
    seen.push(...[...page.matchAll(/<code>(p\d{3})<\/code>/g)].map(([, id = ""]) => id));
    path = /href="\/_inspector(\?[^"]*before=[^"]*)"/.exec(page)?.[1]?.replaceAll("&amp;", "&");
  }
  expect(seen).toEqual(Array.from({ length: 120 }, (_, index) => `p${String(119 - index).padStart(3, "0")}`));
  expect(await read(ask("?status=done"))).toContain("No instance fits these filters.");
  expect(await read(ask("?workflow=parcel%401&status=active"))).toContain("p119");
  expect(await read(ask("?workflow=other%401"))).not.toContain("p119");
  expect((await ask("?before=garbage&status=%00&workflow=%ff")).status).toBe(200);
});

test("an instance of a chart that is not registered is shown without a drawing, with a sentence", async ({
  world,
}) => {
  await world.engine.start(world.workflow, { id: "p1", input: { note: "x" } });
  const page = await read(inspect(world, { workflows: [] })(find("p1")));
  expect(page).toContain("The chart parcel@1 is not registered in this process.");
  expect(page).toContain("packing.weighing");
  expect(page).toContain("the events it would answer are not known");
});

test("an unchanged page costs one empty answer, and a changed one is sent whole", async ({ world }) => {
  const { engine, workflow } = world;
  const ask = inspect(world);
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  const etag = (await ask(find("p1"))).headers.get("etag") ?? "";
  const again = { headers: { "if-none-match": etag } };
  world.clock.advance(5_000);
  const same = await ask(find("p1"), again);
  expect([same.status, await same.text()]).toEqual([304, ""]);
  await engine.send(workflow, "p1", { type: "PAUSE" });
  const changed = await ask(find("p1"), again);
  expect(changed.status).toBe(200);
  expect(changed.headers.get("etag")).not.toBe(etag);
});

test("every answer forbids what is not ours: scripts, frames, other origins; and none allows another site to read it", async ({
  world,
}) => {
  const ask = inspect(world);
  const paths = [
    "",
    "/charts",
    "/chart?key=parcel%401",
    "/health",
    "/style.css",
    "/script.js",
    "/icon.svg",
    "/none",
    find("none"),
  ];
  for (const path of paths) {
    const { headers, status } = await ask(path);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none'; /);
    expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(status).toBe(path === "/none" || path === find("none") ? 404 : 200);
  }
  const page = await (await ask("/chart?key=parcel%401")).text();
  expect(page).not.toMatch(/\sstyle=|<style|javascript:|(?:src|href)="(?:https?:)?\/\//);
});

test("it only shows: every other method is refused and changes nothing", async ({ world }) => {
  const ask = inspect(world);
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    const answer = await ask("", { method });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  }
  expect((await ask("", { method: "HEAD" })).status).toBe(200);
});

test.for([
  ["a name of a stranger's that leads here", "http://evil.example:3210/_inspector", {}],
  ["a name that begins like ours", "http://127.0.0.1.evil.example/_inspector", {}],
  ["another site", AT, { "sec-fetch-site": "cross-site" }],
  ["another port of this machine", AT, { "sec-fetch-site": "same-site" }],
  ["a proxy", AT, { "x-forwarded-for": "203.0.113.9" }],
  ["a page that a proxy shows under another name", AT, { referer: "https://shop.example/_inspector" }],
  ["a form that a proxy shows under another name", AT, { origin: "https://shop.example" }],
] as const)("a request by %s is refused with 403", async ([, url, headers], { world }) => {
  const { storage, workflow, engine } = world;
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  const { fetch } = createInspector({ storage, workflows: [workflow] });
  const answer = await fetch(new Request(url, { headers }));
  expect(answer.status).toBe(403);
  expect(await answer.text()).not.toContain("p1");
});

/** The first line of the answer to a request that is written byte for byte. */
async function answerTo(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.end(text);
  let answer = "";
  for await (const bytes of socket) answer += String(bytes);
  return answer.split("\r\n", 1)[0] ?? "";
}

test("a proxy that names itself nowhere is refused where it speaks HTTP/1.0, as nginx does unless told otherwise", async ({
  world: { storage, workflow },
}) => {
  const server = await listen(createInspector({ storage, workflows: [workflow] }));
  const get = (version: string, ...headers: readonly string[]): Promise<string> =>
    answerTo(server.port, [`GET /_inspector HTTP/${version}`, ...headers, "", ""].join("\r\n"));
  const host = `Host: 127.0.0.1:${server.port}`;
  expect(await get("1.1", host, "Connection: close")).toBe("HTTP/1.1 200 OK");
  expect(await get("1.0", host, "Connection: close")).toBe("HTTP/1.1 403 Forbidden");
  expect(await get("1.0")).toBe("HTTP/1.1 403 Forbidden");
  await server.close();
});

test("a page leads on from a name of this machine to another port of it", async ({
  world: { storage, workflow },
}) => {
  const { fetch } = createInspector({ storage, workflows: [workflow] });
  const headers = { referer: "http://localhost:5173/_inspector" };
  expect((await fetch(new Request(AT, { headers }))).status).toBe(200);
});

test("R31: with authorize the host says who may look, by true alone, under any name; what it throws refuses, and other sites stay out", async ({
  world: { storage, workflow },
}) => {
  const authorize = (request: Request): boolean => {
    const who = request.headers.get("authorization");
    if (who === null) throw new Error("no session");
    return who === "guest" ? ("a guest" as never) : who === "me";
  };
  const { fetch } = createInspector({ storage, workflows: [workflow], authorize });
  const status = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(new Request("https://shop.example/_inspector", { headers }))).status;
  expect(await status({ authorization: "me" })).toBe(200);
  expect(await status({ authorization: "me", "x-forwarded-for": "203.0.113.9" })).toBe(200);
  expect(await status({ authorization: "you" })).toBe(403);
  expect(await status({ authorization: "guest" })).toBe(403);
  expect(await status({})).toBe(403);
  expect(await status({ authorization: "me", "sec-fetch-site": "cross-site" })).toBe(403);
});

test("wrong options are refused by name", () => {
  const wrong = { storage: {}, workflows: [{}] } as never;
  expect(() => createInspector(wrong)).toThrow(InvalidOptions);
  expect(() => createInspector(wrong)).toThrow(
    /storage: expected a storage[\s\S]*workflows\.0: expected what workflow\(\) returns/,
  );
});

test("mounted elsewhere its links lead back to where it was asked", async ({
  world: { storage, workflow, engine },
}) => {
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  const { fetch } = createInspector({ storage, workflows: [workflow] });
  const page = await (await fetch(new Request("http://localhost/tools/_inspector"))).text();
  const links = [...page.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, to = ""]) => to);
  expect(links.filter((to) => !to.startsWith("/tools/_inspector") && to !== "#main")).toEqual([]);
});

test("an engine without payments has no webhooks in its navigation", async ({ world }) => {
  const page = await (await inspect(world)()).text();
  expect(page).toContain(">Timers</a");
  expect(page).not.toContain("Webhooks");
});

test("an edited chart under the same version is pointed out", async ({ world }) => {
  await world.engine.start(world.workflow, { id: "p1", input: { note: "x" } });
  const edited = { ...parcels(), hash: "edited" };
  const page = await read(inspect(world, { workflows: [edited] })(find("p1")));
  expect(page).toContain("was edited without a new version");
});

test("a bundle and a file of a chart hold no secret", async ({ world }) => {
  const { engine, workflow } = world;
  const secret = "ps_live_0011223344556677_8899aabbccddeeff";
  await engine.start(workflow, { id: "p1", input: { note: `key ${secret}` } });
  await engine.send(workflow, "p1", { type: "ASK", apiKey: "correct horse battery" });
  const ask = inspect(world);
  const bundle = await (await ask("/bundle?id=p1")).text();
  expect(JSON.parse(bundle)).toMatchObject({
    format: "paystate bundle",
    content: { instance: { id: "p1" } },
  });
  expect(bundle).not.toContain("8899aabbccddeeff");
  expect(bundle).not.toContain("correct horse");
  for (const as of ["svg", "mermaid", "json"]) {
    const file = await ask(`/chart-file?key=parcel%401&as=${as}`);
    expect(file.headers.get("content-disposition")).toContain("attachment");
    expect(await file.text()).toContain("paused");
  }
});

test("a path that begins with two slashes gives no link or redirect to another site", async ({
  world: { storage, workflow, engine },
}) => {
  await engine.start(workflow, { id: "p1", input: { note: "x" } });
  const { fetch } = createInspector({ storage, workflows: [workflow] });
  const at = "http://localhost//evil.example/_inspector";
  const page = await (await fetch(new Request(at))).text();
  expect(page).not.toMatch(/(?:href|src|action)="\/\//);
  expect((await fetch(new Request(`${at}/find?q=p1`))).headers.get("location")).toBe(
    "/evil.example/_inspector/instance?id=p1",
  );
});

const ODD_IDS = [
  "a/b//c",
  "100%",
  "%2e%2e%2f",
  "ünïcödé 💥",
  "\u202Egnp.exe",
  "a\nb",
  "x".repeat(2_000),
  "constructor",
  "__proto__",
  "javascript:alert(1)",
];

test("an instance with an odd id is found by its link, searched, followed and saved", async ({ world }) => {
  const { engine, workflow, clock } = world;
  const ask = inspect(world);
  for (const id of ODD_IDS) {
    clock.advance(1_000);
    await engine.start(workflow, { id, input: { note: "x" } });
    const [, link = ""] = /<a href="\/_inspector(\/instance\?[^"]*)"/.exec(await (await ask()).text()) ?? [];
    expect(new URLSearchParams(link.slice(link.indexOf("?"))).get("id")).toBe(id);
    expect((await ask(link)).status).toBe(200);
    expect((await ask(`/find?${new URLSearchParams({ q: id }).toString()}`)).status).toBe(303);
    const saved = await ask(link.replace("instance", "bundle"));
    expect(saved.headers.get("content-disposition")).toMatch(/^attachment; filename="[A-Za-z0-9._@-]*"$/);
    const { body, status } = await ask(`/live?${new URLSearchParams({ page: link }).toString()}`);
    expect(status).toBe(200);
    await body?.cancel();
  }
  // Half of a sign that needs two stands in no address.
  await expect(engine.start(workflow, { id: "\uD800", input: { note: "x" } })).rejects.toThrow("halves");
});
