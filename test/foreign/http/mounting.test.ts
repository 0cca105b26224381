/** The handler inside other people's servers: real requests over real sockets. */
import { describe, expect, test as vitestTest } from "vitest";
import { createHttpHandler } from "../../../src/http/create-http-handler.ts";
import { serviceFixture } from "../../kit/service-fixture.ts";
import { codeIn, tableOf, textOf } from "../../readme/page.ts";
import { recorder } from "../../core/recorder.ts";
import { MOUNTINGS, WRONG_MOUNTINGS, type Mounted, type Mounting } from "./frameworks.ts";

const QUOTE = JSON.stringify({ inputAsset: "SOL", outputAsset: "SOL", amount: "1.50" });

interface Asking {
  readonly body?: string;
  readonly key?: string;
}

/** What the tests of a file share: `log` is what the handler wrote, `mountedIn` mounts it when first asked for. */
const test = vitestTest
  .extend("log", { scope: "file" }, ({}) => recorder())
  .extend("world", { scope: "file" }, async ({}, { onCleanup }) => {
    const world = await serviceFixture();
    onCleanup(() => world.close());
    return world;
  })
  .extend("authorization", { scope: "file" }, async ({ world }) => {
    const { accountId } = await world.caller("enterprise");
    return `Bearer ${(await world.service.issueKey({ accountId, environment: "test" })).key}`;
  })
  .extend("mountedIn", { scope: "file" }, ({ world: { service, clock }, log }, { onCleanup }) => {
    const handler = createHttpHandler({ service, clock, logger: log.logger });
    const mounted = new Map<Mounting, Promise<Mounted>>();
    onCleanup(async () => {
      for (const each of mounted.values()) await (await each).close();
    });
    return (mounting: Mounting): Promise<Mounted> => {
      const there = mounted.get(mounting) ?? mounting.mount(handler);
      mounted.set(mounting, there);
      return there;
    };
  })
  .extend("posted", ({ authorization }) => {
    return ({ base }: Mounted, path: string, { body, key }: Asking): Promise<Response> =>
      fetch(`${base}${path}`, {
        method: "POST",
        headers: {
          authorization,
          ...(body !== undefined && { "content-type": "application/json" }),
          ...(key !== undefined && { "idempotency-key": key }),
        },
        ...(body !== undefined && { body }),
      });
  });

describe.each(MOUNTINGS)("$name", (mounting) => {
  test("a quote is made, and repeated under its key byte for byte", async ({ mountedIn, posted }) => {
    const mounted = await mountedIn(mounting);
    const asking = { body: QUOTE, key: mounting.name.replaceAll(" ", "-") };
    const made = await posted(mounted, "/v1/quotes", asking);
    expect(made.status).toBe(201);
    const text = await made.text();
    expect(JSON.parse(text)).toMatchObject({ inputAmount: "1.5" });
    const again = await posted(mounted, "/v1/quotes", asking);
    expect([await again.text(), again.headers.get("idempotent-replayed")]).toEqual([text, "true"]);
  });

  test("bad JSON and a missing body are the caller's mistake, and a path that is not there is 404", async ({
    log,
    authorization,
    mountedIn,
    posted,
  }) => {
    const mounted = await mountedIn(mounting);
    const empty = await posted(mounted, "/v1/quotes", { body: "" });
    const none = await posted(mounted, "/v1/transactions/tx_0/cancel", {});
    const nowhere = await fetch(`${mounted.base}/v1/nowhere`, { headers: { authorization } });
    expect([empty.status, none.status, nowhere.status]).toEqual([400, 404, 404]);
    expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });
});

describe.each(WRONG_MOUNTINGS)("$name", (mounting) => {
  test("a body that was read and left nowhere is a 500, and the log tells the developer what to do", async ({
    log,
    mountedIn,
    posted,
  }) => {
    const mounted = await mountedIn(mounting);
    log.lines.length = 0;
    const answer = await posted(mounted, "/v1/quotes", { body: QUOTE });
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

  test("what has no body is answered", async ({ authorization, mountedIn, posted }) => {
    const mounted = await mountedIn(mounting);
    const tokens = await fetch(`${mounted.base}/v1/tokens`, { headers: { authorization } });
    const none = await posted(mounted, "/v1/transactions/tx_0/cancel", {});
    expect([tokens.status, none.status]).toEqual([200, 404]);
  });
});

test("the page shows the lines that these tests run", () => {
  const lines = tableOf("src/http/README.md", "## Mounting").flatMap(([, line = ""]) =>
    codeIn(line).filter((code) => code.endsWith(";")),
  );
  expect(lines).toHaveLength(7);
  const source = textOf("test/foreign/http/frameworks.ts").replaceAll(/\s+/g, " ");
  for (const line of lines) expect(source).toContain(line);
});
