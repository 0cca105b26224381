/** The example of two databases behind one handler, run as a reader would run it; and what its router passes on. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { routeByKey } from "../../examples/cells/route-by-key.ts";

test("each account is answered by its cell, another cell knows none of its keys, and one that is down stops nobody else", async () => {
  const main = fileURLToPath(new URL("../../examples/cells/main.ts", import.meta.url));
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--import", "tsx", main], {
    cwd: root,
  });
  expect(stdout.trim().split("\n")).toEqual([
    "ada, in the north: 200 ok",
    "bea, in the south: 201 quo",
    "ada's key, sent to the south: 401 INVALID_API_KEY",
    "a cell that is not there: 401 INVALID_API_KEY",
    "bea, while the north is down: 200 ok",
  ]);
  expect(stderr).toBe("");
});

test("method, path, headers and body arrive as they were sent, but for the cell's name", async () => {
  const seen: unknown[] = [];
  const cell = (name: string) => async (request: Request) => {
    const { method, url, headers } = request;
    seen.push([
      name,
      method,
      url,
      headers.get("authorization"),
      headers.get("idempotency-key"),
      await request.text(),
    ]);
    return new Response();
  };
  const front = routeByKey(
    new Map([
      ["north", cell("north")],
      ["south-2", cell("south-2")],
    ]),
  );
  const send = (authorization: string | null) =>
    front(
      new Request("https://pay.test/v1/quotes?a=1", {
        method: "POST",
        body: "{}",
        headers: { "idempotency-key": "k", ...(authorization === null ? {} : { authorization }) },
      }),
    );
  await send("Bearer south-2.ps_test_a_b_c");
  await send("bearer north.ps_test_a_b_c");
  await send("Bearer west.ps_test_a_b_c");
  await send("Bearer ps_test_a_b_c");
  await send(null);
  const same = ["POST", "https://pay.test/v1/quotes?a=1"];
  expect(seen).toEqual([
    ["south-2", ...same, "Bearer ps_test_a_b_c", "k", "{}"],
    ["north", ...same, "Bearer ps_test_a_b_c", "k", "{}"],
    ["north", ...same, "Bearer west.ps_test_a_b_c", "k", "{}"],
    ["north", ...same, "Bearer ps_test_a_b_c", "k", "{}"],
    ["north", ...same, null, "k", "{}"],
  ]);
});
