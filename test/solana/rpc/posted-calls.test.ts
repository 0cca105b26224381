/** The answer to each call of a request is found by its id, and what is no answer disturbs no other call. */
import { describe, expect, test } from "vitest";
import { EndpointFailure } from "../../../src/solana/endpoint-failure.ts";
import { postedCalls, CallWriter, type Outcome } from "../../../src/solana/rpc/rpc-call.ts";

const METHODS = ["getSlot", "getEpochInfo", "getBalance"];

/** Posts three calls, ids 1 to 3, to a node that sends this text. */
async function posted(text: string | EndpointFailure, methods = METHODS): Promise<readonly Outcome[]> {
  const writer = new CallWriter();
  const post = postedCalls(async () => {
    if (text instanceof EndpointFailure) throw text;
    return text;
  });
  return await post(methods.map((method) => writer.write(method, [])));
}

const answer = (id: unknown, result: unknown = `answer ${String(id)}`): object => ({
  jsonrpc: "2.0",
  id,
  result,
});
const told = (id: string): object => ({ status: "fulfilled", value: `answer ${id}` });
const failed = (message: string, kind = "garbled"): object => ({
  status: "rejected",
  reason: { kind, message: expect.stringContaining(message) as string },
});
const missing = failed("not one answer to each call");

test("one call is written as no batch, several as one", async () => {
  const bodies: [string, number][] = [];
  const writer = new CallWriter();
  const post = postedCalls(async (body, calls) => {
    bodies.push([body, calls.length]);
    return "{}";
  });
  await post([writer.write("getSlot", [1])]);
  await post([writer.write("getSlot", []), writer.write("getBalance", ["a", { b: 1 }])]);
  expect(bodies.map(([body, calls]) => [JSON.parse(body) as unknown, calls])).toEqual([
    [{ jsonrpc: "2.0", id: "1", method: "getSlot", params: [1] }, 1],
    [
      [
        { jsonrpc: "2.0", id: "2", method: "getSlot", params: [] },
        { jsonrpc: "2.0", id: "3", method: "getBalance", params: ["a", { b: 1 }] },
      ],
      2,
    ],
  ]);
});

describe("answers to a batch", () => {
  test.each<[string, unknown[], object[]]>([
    ["in another order", [answer("3"), answer("1"), answer("2")], [told("1"), told("2"), told("3")]],
    ["one of them absent", [answer("3"), answer("1")], [told("1"), missing, told("3")]],
    [
      "one of them doubled, alike",
      [answer("1"), answer("2"), answer("3"), answer("2")],
      [told("1"), missing, told("3")],
    ],
    [
      "one of them doubled, with another word",
      [answer("2", 0), answer("1"), answer("2", 1), answer("3")],
      [told("1"), missing, told("3")],
    ],
    [
      "and one to a stranger's call",
      [answer("1"), answer("9"), answer("2"), answer("3")],
      [told("1"), told("2"), told("3")],
    ],
    [
      "one of them to a stranger's call",
      [answer("1"), answer("9"), answer("3")],
      [told("1"), missing, told("3")],
    ],
    ["with a number for an id", [answer("1"), answer(2), answer("3")], [told("1"), missing, told("3")]],
    ["none at all", [], [missing, missing, missing]],
    ["that are no objects", [null, 1, [answer("2")]], [missing, missing, missing]],
    [
      "one of them of another protocol",
      [answer("1"), { id: "2", result: 5 }, answer("3")],
      [told("1"), failed("JSON-RPC answer to another call"), told("3")],
    ],
    [
      "one of them without a result",
      [answer("1"), { jsonrpc: "2.0", id: "2" }, answer("3")],
      [told("1"), failed("without a result"), told("3")],
    ],
    [
      "one of them an error",
      [
        answer("1"),
        { jsonrpc: "2.0", id: "2", error: { code: -32602, message: "k3y", data: 7 } },
        answer("3"),
      ],
      [told("1"), failed("JSON-RPC error -32602", "rpc"), told("3")],
    ],
  ])("%s", async (_, answers, expected) => {
    expect(await posted(JSON.stringify(answers))).toMatchObject(expected);
  });

  test("of which several are absent are one failure of the node", async () => {
    const [first, second, third] = await posted(JSON.stringify([answer("1")]));
    expect(first).toMatchObject(told("1"));
    expect(second).toMatchObject(missing);
    expect((third as PromiseRejectedResult).reason).toBe((second as PromiseRejectedResult).reason);
  });
});

describe("one answer in place of a list", () => {
  const ADVICE =
    "to 3 calls in one request: if it answers single calls, leave its callsPerBatch out or lower it";
  const error = (code: number): string =>
    JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message: "secret k3y" } });
  const http = (status: number): EndpointFailure =>
    new EndpointFailure("http", `HTTP ${status}`, { code: status, retryAfterMs: 5 });

  test.each<[string, string | EndpointFailure, object]>([
    ["error -32600", error(-32_600), { kind: "rpc", message: `JSON-RPC error -32600 ${ADVICE}` }],
    ["HTTP 413", http(413), { kind: "http", message: `HTTP 413 ${ADVICE}`, facts: { code: 413 } }],
    ["HTTP 400", http(400), { kind: "http", message: `HTTP 400 ${ADVICE}` }],
    ["a result", JSON.stringify(answer("1")), { kind: "garbled", message: `no list of answers ${ADVICE}` }],
    ["a page", "<html>", { kind: "garbled", message: `an answer that is not JSON ${ADVICE}` }],
    ["nothing", "", { kind: "garbled", message: `an answer that is not JSON ${ADVICE}` }],
  ])("fails all calls once, and tells what would be right: %s", async (_, text, expected) => {
    const outcomes = await posted(text);
    const reasons = outcomes.map((outcome) =>
      outcome.status === "rejected" ? (outcome.reason as unknown) : null,
    );
    expect(reasons).toHaveLength(3);
    expect(reasons[0]).toMatchObject(expected);
    expect(new Set(reasons).size).toBe(1);
    expect(String(reasons[0])).not.toContain("k3y");
  });

  test.each<[string, string | EndpointFailure, string]>([
    ["HTTP 429", http(429), "HTTP 429"],
    ["HTTP 503", http(503), "HTTP 503"],
    ["error -32005", error(-32_005), "JSON-RPC error -32005"],
    ["no answer in time", new EndpointFailure("timeout", "no answer in time"), "no answer in time"],
    ["no connection", new EndpointFailure("unreachable", "no connection"), "no connection"],
  ])("says nothing about batches where single calls would have failed, too: %s", async (_, text, message) => {
    const [outcome] = await posted(text);
    expect(outcome).toMatchObject({ status: "rejected", reason: { message } });
  });

  test("of a call alone is its own answer, and names no batch", async () => {
    expect(await posted(error(-32_600), ["getSlot"])).toMatchObject([
      { status: "rejected", reason: { kind: "rpc", message: "JSON-RPC error -32600" } },
    ]);
    expect(await posted(JSON.stringify([answer("1")]), ["getSlot"])).toMatchObject([
      failed("JSON-RPC answer"),
    ]);
  });
});
