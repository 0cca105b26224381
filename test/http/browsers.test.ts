/** What a browser on another origin is told: nothing by the API itself, and what a host adds before it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test as vitestTest } from "vitest";
import type { HttpHandler } from "../../src/http/create-http-handler.ts";
import { httpFixture } from "./http-fixture.ts";
import { blockOf } from "../readme/page.ts";
import { makeScratchFolder, removeScratchFolder } from "../readme/scratch-folder.ts";
import { WAYS, type Way } from "./ways.ts";

const ORIGIN = "https://pages.example";
const PREFLIGHT = {
  method: "OPTIONS",
  headers: {
    origin: ORIGIN,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type",
  },
};

let folder = "";
beforeAll(() => {
  folder = makeScratchFolder();
  writeFileSync(join(folder, "cors.ts"), blockOf("src/http/README.md", "ts cors"));
});
afterAll(() => removeScratchFolder(folder));

/** Behind what the page's program puts before the handler. */
const BEHIND_CORS: Way = {
  name: "behind CORS",
  basePath: "",
  prefix: "",
  async open(handler) {
    const { appOf } = (await import(join(folder, "cors.ts"))) as {
      appOf: (handler: HttpHandler) => { fetch(request: Request): Response | Promise<Response> };
    };
    const app = appOf(handler);
    return {
      origin: null,
      ask: async (path, init) => app.fetch(new Request(`https://pay.example${path}`, init)),
      close: async () => {},
    };
  },
};

const test = vitestTest.extend("httpOf", ({ onTestFinished }) => async (way: Way) => {
  const http = await httpFixture(way);
  onTestFinished(() => http.close());
  return http;
});

test("Q23: a preflight is refused like any request without a key, and no answer names an origin", async ({
  httpOf,
}) => {
  const [way] = WAYS;
  if (way === undefined) throw new Error("there is such a way");
  const http = await httpOf(way);
  const refused = await http.stranger("/v1/quotes", PREFLIGHT);
  const { get } = await http.client();
  const answered = await get("/v1/tokens", { origin: ORIGIN });
  expect([refused.status, answered.status]).toEqual([401, 200]);
  for (const { headers } of [refused, answered]) {
    expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
  }
});

test("Q23: behind the page's program a preflight is answered, and a page of that origin reads the answer", async ({
  httpOf,
}) => {
  const http = await httpOf(BEHIND_CORS);
  const preflight = await http.stranger("/v1/quotes", PREFLIGHT);
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-origin")).toBe(ORIGIN);
  const { get } = await http.client();
  const answered = await get("/v1/tokens", { origin: ORIGIN });
  expect(answered.status).toBe(200);
  expect(answered.headers.get("access-control-allow-origin")).toBe(ORIGIN);
  expect(answered.headers.get("access-control-expose-headers")).toContain("x-request-id");
  expect((await http.stranger("/v1/tokens", { headers: { origin: "https://other.example" } })).status).toBe(
    401,
  );
});
