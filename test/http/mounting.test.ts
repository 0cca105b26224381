/** The handler inside other people's servers: real requests over real sockets. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHttpHandler, type HttpHandler } from "../../src/http/create-http-handler.ts";
import { serviceFixture, type ServiceFixture } from "../kit/service-fixture.ts";
import { codeIn, tableOf, textOf } from "../readme/page.ts";
import { recorder } from "../core/recorder.ts";
import { MOUNTINGS, WRONG_MOUNTINGS, type Mounted, type Mounting } from "./frameworks.ts";

const QUOTE = JSON.stringify({ inputAsset: "SOL", outputAsset: "SOL", amount: "1.50" });

let world: ServiceFixture;
let handler: HttpHandler;
let authorization: string;
const log = recorder();

beforeAll(async () => {
  world = await serviceFixture();
  const { service, clock } = world;
  const { accountId } = await world.caller("enterprise");
  authorization = `Bearer ${(await service.issueKey({ accountId, environment: "test" })).key}`;
  handler = createHttpHandler({ service, clock, logger: log.logger });
});
afterAll(() => world.close());

interface Asking {
  readonly body?: string;
  readonly key?: string;
}

async function posted({ base }: Mounted, path: string, { body, key }: Asking): Promise<Response> {
  return fetch(`${base}${path}`, {
    method: "POST",
    headers: {
      authorization,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(key !== undefined && { "idempotency-key": key }),
    },
    ...(body !== undefined && { body }),
  });
}

function mountedIn(mounting: Mounting): () => Mounted {
  let mounted: Mounted;
  beforeAll(async () => {
    mounted = await mounting.mount(handler);
  });
  afterAll(() => mounted.close());
  return () => mounted;
}

describe.each(MOUNTINGS)("$name", (mounting) => {
  const mounted = mountedIn(mounting);

  test("a quote is made, and repeated under its key byte for byte", async () => {
    const asking = { body: QUOTE, key: mounting.name.replaceAll(" ", "-") };
    const made = await posted(mounted(), "/v1/quotes", asking);
    expect(made.status).toBe(201);
    const text = await made.text();
    expect(JSON.parse(text)).toMatchObject({ inputAmount: "1.5" });
    const again = await posted(mounted(), "/v1/quotes", asking);
    expect([await again.text(), again.headers.get("idempotent-replayed")]).toEqual([text, "true"]);
  });

  test("bad JSON and a missing body are the caller's mistake, and a path that is not there is 404", async () => {
    const empty = await posted(mounted(), "/v1/quotes", { body: "" });
    const none = await posted(mounted(), "/v1/transactions/tx_0/cancel", {});
    const nowhere = await fetch(`${mounted().base}/v1/nowhere`, { headers: { authorization } });
    expect([empty.status, none.status, nowhere.status]).toEqual([400, 404, 404]);
    expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });
});

describe.each(WRONG_MOUNTINGS)("$name", (mounting) => {
  const mounted = mountedIn(mounting);

  test("a body that was read and left nowhere is a 500, and the log tells the developer what to do", async () => {
    log.lines.length = 0;
    const answer = await posted(mounted(), "/v1/quotes", { body: QUOTE });
    expect(answer.status).toBe(500);
    const said = (await answer.json()) as { readonly error: { readonly code: string } };
    expect(said.error.code).toBe("INTERNAL_ERROR");
    expect(JSON.stringify(said)).not.toMatch(/body|parser/);
    const line = log.lines.find(({ level }) => level === "error");
    expect(String((line?.fields["err"] as Error | undefined)?.message)).toMatch(
      /body was read before handler\.(node and left nowhere: mount the handler before the body parser|fetch: read that of request\.clone\(\))/,
    );
    log.lines.length = 0;
  });

  test("what has no body is answered", async () => {
    const tokens = await fetch(`${mounted().base}/v1/tokens`, { headers: { authorization } });
    const none = await posted(mounted(), "/v1/transactions/tx_0/cancel", {});
    expect([tokens.status, none.status]).toEqual([200, 404]);
  });
});

test("the page shows the lines that these tests run", () => {
  const lines = tableOf("src/http/README.md", "## Mounting").flatMap(([, line = ""]) =>
    codeIn(line).filter((code) => code.endsWith(";")),
  );
  expect(lines).toHaveLength(7);
  const source = textOf("test/http/frameworks.ts").replaceAll(/\s+/g, " ");
  for (const line of lines) expect(source).toContain(line);
});
