/** What needs no key: the document and the page made of it, limited per client address. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HttpHandlerOptions } from "../../src/http/create-http-handler.ts";
import { openApiDocument } from "../../src/index.ts";
import { sampled } from "../kit/thorough.ts";
import { httpFixture, type HttpFixture } from "./http-fixture.ts";
import { HOSTED_WAYS, WAYS } from "./ways.ts";

const PATHS = ["/v1/openapi.json", "/v1/docs", "/v1/docs/explorer.js"];

describe.each(sampled([...WAYS, ...HOSTED_WAYS], "ways to the reference"))("$name", (way) => {
  let http: HttpFixture;
  beforeAll(async () => {
    const clientAddress: HttpHandlerOptions["clientAddress"] = ({ headers }) => headers.get("x-client");
    http = await httpFixture(way, { handler: { limits: { documents: 3 }, clientAddress } });
  });
  afterAll(() => http.close());

  test("the document is read without a key, and names the server that answers", async () => {
    const answer = await http.stranger("/v1/openapi.json");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
    expect(answer.body).toEqual(openApiDocument({ server: way.prefix === "" ? "/" : way.prefix }));
    expect((await http.stranger("/v1/openapi.json")).text).toBe(answer.text);
  });

  test("HEAD and OPTIONS need no key either, and nothing else is taken", async () => {
    for (const path of PATHS) {
      const head = await http.ask(path, { method: "HEAD" });
      expect([head.status, await head.text()]).toEqual([200, ""]);
      const options = await http.ask(path, { method: "OPTIONS" });
      expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
      const refused = await http.stranger(path, { method: "POST" });
      expect(refused).toMatchObject({ status: 405, code: "METHOD_NOT_ALLOWED" });
      expect(refused.headers.get("allow")).toBe("GET, HEAD");
    }
  });

  test("each client address has a limit of its own for all, and the window slides", async () => {
    const ask = (path: string, client: string): Promise<Response> =>
      http.ask(path, { headers: { "x-client": client } });
    for (const left of [2, 1, 0]) {
      const { status, headers } = await ask(PATHS[left] ?? "", "192.0.2.1");
      expect(status).toBe(200);
      expect(headers.get("ratelimit-policy")).toBe('"documents";q=3;w=60');
      expect(headers.get("ratelimit")).toMatch(`"documents";r=${left};t=60`);
    }
    for (const path of PATHS) {
      const refused = await ask(path, "192.0.2.1");
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
      const { error } = (await refused.json()) as { error: { code: string; details: object } };
      expect(error).toMatchObject({
        code: "RATE_LIMIT_EXCEEDED",
        details: { scope: "documents", tier: "none" },
      });
    }
    expect((await ask("/v1/docs", "192.0.2.2")).status).toBe(200);
    http.clock.advance(60_000);
    expect((await ask("/v1/docs", "192.0.2.1")).status).toBe(200);
  });

  test("a full window of documents keeps no key from working, nor does a bad key keep the documents away", async () => {
    const client = await http.client();
    for (let n = 0; n < 5; n++) await http.ask("/v1/docs", { headers: { "x-client": "192.0.2.3" } });
    expect((await client.get("/v1/tokens", { "x-client": "192.0.2.3" })).status).toBe(200);
    const answer = await http.ask("/v1/docs", { headers: { authorization: "Bearer nonsense" } });
    expect(answer.status).toBe(200);
  });

  test("the page asks nobody but this host, and runs its script alone", async () => {
    const answer = await http.ask("/v1/docs");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const page = await answer.text();
    const policy = answer.headers.get("content-security-policy") ?? "";
    for (const rule of ["default-src 'none'", "script-src 'self'", "connect-src 'self'"]) {
      expect(policy).toContain(rule);
    }
    const links = [...page.matchAll(/(?:src|href|spec-url)="([^"]*)"/g)].map(([, link = ""]) => link);
    expect(new Set(links)).toEqual(new Set(["docs", "docs/explorer.js", "openapi.json"]));
    expect(page).not.toMatch(/style="|\son\w+=|<script>/);
  });

  test("the script is the renderer, whole, kept by browsers for a day, and no operation of the API", async () => {
    const answer = await http.ask("/v1/docs/explorer.js");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      200,
      "text/javascript; charset=utf-8",
    ]);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=86400");
    const script = await answer.text();
    expect(script).toContain("OpenAPI Explorer");
    expect(script.length).toBeLessThan(1_200_000);
    expect(JSON.stringify(openApiDocument())).not.toContain("explorer.js");
  });
});
