/** Q4: an answer has as many bytes, and as many levels, as what was asked for may have; more is the endpoint's fault. */
import { describe, expect, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import { readForeignJson } from "../../src/core/foreign-json.ts";
import { LedgerUnavailable, type Ledger } from "../../src/ledger/ledger.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { answerBound as answersBound } from "../../src/solana/rpc/bounded-fetch.ts";
import { RpcNode } from "../../src/solana/rpc/rpc-node.ts";
import { answerTooLarge } from "../../src/solana/endpoint-failure.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { result, scriptedNode, type Call, type Reply } from "./scripted-node.ts";

const KIB = 1_024;
const ADDRESS = "Vote111111111111111111111111111111111111111" as Address;

const answerBound = (method: string, params: readonly unknown[]): number =>
  answersBound([{ method, params }]);

/** A JSON answer filled up with blanks to this many bytes. */
const filled =
  (value: unknown, bytes: number): Reply =>
  ({ id }: Call) => {
    const text = JSON.stringify({ jsonrpc: "2.0", id, result: value });
    return new Response(text + " ".repeat(bytes - text.length));
  };

function ledgerOf(...script: Reply[]): Ledger {
  const { fetch } = scriptedNode(...script);
  return solanaLedger({ endpoints: [{ url: "https://node.example", fetch }], clock: virtualClock() });
}

const context = { slot: 5 };

test("Q4: a status is read of 512 bytes beside the frame of 1 KiB, and not a byte more", async () => {
  const value = { context, value: [null] };
  const most = answerBound("getSignatureStatuses", [["one"], {}]);
  expect(most).toBe(KIB + 512);
  expect(await ledgerOf(filled(value, most)).statuses(["one"])).toEqual([null]);
  const refused = ledgerOf(filled(value, most + 1)).statuses(["one"]);
  await expect(refused).rejects.toThrow(LedgerUnavailable);
  await expect(refused).rejects.toThrow("an answer that is too large");
});

test("Q4: what an endpoint says too much of is asked of the next one", async () => {
  const [hostile, honest] = [
    scriptedNode(filled({ context, value: [null] }, 1_000_000)),
    scriptedNode(result({ context, value: [null] })),
  ];
  const endpoints = [hostile, honest].map(({ fetch }, index) => ({
    url: `https://node${index}.example`,
    fetch,
  }));
  const ledger = solanaLedger({ endpoints, clock: virtualClock() });
  expect(await ledger.statuses(["one"])).toEqual([null]);
  expect(hostile.calls).toHaveLength(1);
});

test("Q4: the bound of accounts grows with how many and how much of each is asked for", () => {
  const bytesOf = (count: number, length: number): number =>
    answerBound("getMultipleAccounts", [Array(count).fill(ADDRESS), { dataSlice: { offset: 0, length } }]);
  expect(bytesOf(1, 0)).toBe(KIB + 512);
  expect(bytesOf(100, 0)).toBe(KIB + 100 * 512);
  expect(bytesOf(100, 300)).toBe(KIB + 100 * (512 + 400));
});

test.each([
  "getBalance",
  "getSlot",
  "getLatestBlockhash",
  "getFeeForMessage",
  "sendTransaction",
  "unheardOf",
])("Q4: the answer to %s has 1 KiB", (method) => expect(answerBound(method, [ADDRESS, {}])).toBe(KIB));

test("Q4: a batch has the bytes of its calls, 4 MiB at most, and a call alone its own", () => {
  const balance = { method: "getBalance", params: [ADDRESS] };
  const transaction = { method: "getTransaction", params: ["one"] };
  expect(answersBound([balance, balance])).toBe(2 * KIB);
  expect(answersBound(Array.from({ length: 100 }, () => transaction))).toBe(4 * KIB * KIB);
  expect(answersBound([{ method: "getBlock", params: [1] }])).toBe(8 * KIB * KIB + KIB);
});

describe("Q4: a list that strangers have filled with memos", () => {
  /** A list of so many entries, which is told in one answer up to so many of them. */
  function listing(count: number, mostAtOnce: number): { readonly node: RpcNode; readonly limits: number[] } {
    const all = Array.from({ length: count }, (_, index) => ({ signature: `s${index}`, slot: 9, err: null }));
    const limits: number[] = [];
    const call = async (_method: string, params: readonly unknown[]): Promise<unknown> => {
      const { limit, before } = params[1] as { readonly limit: number; readonly before?: string };
      limits.push(limit);
      if (limit > mostAtOnce) throw answerTooLarge();
      const from = before === undefined ? 0 : all.findIndex(({ signature }) => signature === before) + 1;
      return all.slice(from, from + limit);
    };
    const patience = { clock: virtualClock(), closed: new AbortController().signal };
    return { node: new RpcNode(call, patience), limits };
  }

  test.each([0, 31, 32, 33, 64, 99, 100])("is read in parts, %i entries of it", async (count) => {
    const { node, limits } = listing(count, 32);
    const listed = await node.getSignaturesForAddress(ADDRESS, { limit: 100 });
    expect(listed.map(({ signature }) => signature)).toEqual(
      Array.from({ length: count }, (_, n) => `s${n}`),
    );
    expect(limits[0]).toBe(100);
    // What is left is tried whole, too: the rest of a list may be short.
    expect(limits.filter((limit) => limit > 32)).toEqual([100, 68, 36].slice(0, 1 + Math.floor(count / 32)));
  });

  test("is no longer than asked for, and a part that is too large is a fault", async () => {
    expect(await listing(500, 32).node.getSignaturesForAddress(ADDRESS, { limit: 40 })).toHaveLength(40);
    const refused = listing(500, 31).node.getSignaturesForAddress(ADDRESS, { limit: 40 });
    await expect(refused).rejects.toThrow("too large");
  });
});

const nested = (depth: number, inner = ""): string => `${"[".repeat(depth)}${inner}${"]".repeat(depth)}`;

describe("Q4: nesting", () => {
  const asked = (text: string): Promise<unknown> => readForeignJson(new Response(text), 100 * KIB);

  test("of 64 levels is read, of 65 refused before it is parsed", async () => {
    expect(JSON.stringify(await asked(nested(64)))).toBe(nested(64));
    await expect(asked(nested(65))).rejects.toThrow("nested too deeply");
    await expect(asked("[".repeat(65))).rejects.toThrow("nested too deeply");
    await expect(asked('{"a":'.repeat(65))).rejects.toThrow("nested too deeply");
  });

  test("is counted by what is open, and never within text", async () => {
    const text = JSON.stringify({ a: "[".repeat(100), ["{".repeat(100)]: String.raw`\"[`.repeat(100) });
    expect(JSON.stringify(await asked(text))).toBe(text);
    const wide = `[${Array(1_000).fill(nested(3)).join(",")}]`;
    expect(JSON.stringify(await asked(wide))).toBe(wide);
    await expect(asked(`["\\\\",${nested(64)}]`)).rejects.toThrow("nested too deeply");
  });

  test("of a node's answer is its fault, and nobody waits for the parser", async () => {
    const deep: Reply = () => new Response(`{"jsonrpc":"2.0","id":"1","result":${nested(65)}}`);
    await expect(ledgerOf(deep).statuses(["one"])).rejects.toThrow("an answer that is nested too deeply");
  });
});

test("Q4: JSON of a stranger is refused by its bytes, and no word of it is in the error", async () => {
  const secret = '{"key":"s3cret';
  for (const [text, most, words] of [
    [secret, 5, "at most 5 bytes and 64 levels: the answer is too large"],
    [secret, 100, "expected JSON: the answer is none"],
  ] as const) {
    const error: unknown = await readForeignJson(new Response(text), most).catch((reason: unknown) => reason);
    expect(String(error)).toContain(words);
    expect(String(error)).not.toContain("s3cret");
  }
  await expect(readForeignJson(new Response(null), 100)).rejects.toThrow("expected JSON");
});
