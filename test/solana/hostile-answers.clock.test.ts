/** Q4: answers made to stop whoever reads them, from nodes and from all others who are asked: the event loop goes on. */
import { describe, expect, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import { readForeignJson } from "../../src/core/foreign-json.ts";
import { LedgerUnavailable, type Ledger } from "../../src/ledger/ledger.ts";
import { JupiterClient } from "../../src/payments/swap/jupiter/jupiter-client.ts";
import { solanaLedger, type Fetch } from "../../src/solana/index.ts";
import { RpcNode } from "../../src/solana/rpc/rpc-node.ts";
import { boundedFetch } from "../../src/solana/rpc/bounded-fetch.ts";
import { postedCalls } from "../../src/solana/rpc/posted-calls.ts";
import { singleCalls } from "../../src/solana/rpc/rpc-call.ts";
import { longestBlock } from "../http/longest-block.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { result, scriptedNode } from "./scripted-node.ts";

const MIB = 1_024 * 1_024;
const MAX_BLOCK_MS = 50;
/** Of an answer to `getBlock`, which `deathProof: "blocks"` asks for. */
const MAX_BLOCK_OF_BLOCK_MS = 300;
// A busy machine can only make a pause longer than the work in it, so the shortest of some is nearest to the truth.
const MAX_TRIES = 8;
const CHUNK = 64 * 1_024;
const ADDRESS = "Vote111111111111111111111111111111111111111" as Address;

/** A body of one piece over and over between a beginning and an end, each chunk in a turn of its own. */
function poured(start: string, piece: string, bytes: number, end = ""): Response {
  const chunk = Buffer.from(piece.repeat(Math.floor(CHUNK / piece.length)));
  let left = bytes;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from(start)),
    async pull(controller) {
      await new Promise((resolve) => setImmediate(resolve));
      if (left > 0) controller.enqueue(chunk);
      else controller.enqueue(Buffer.from(end));
      if (left <= 0) controller.close();
      left -= chunk.length;
    },
  });
  return new Response(body);
}

const FRAME = '{"jsonrpc":"2.0","id":"1","result":';

/** What a hostile program answers. */
const ANSWERS: Readonly<Record<string, () => Response>> = {
  "15 MB of lists that never close": () => poured(FRAME, "[", 15 * MIB),
  "15 MB of objects that never close": () => poured(FRAME, '{"a":', 15 * MIB),
  "31 MB of valid lists": () => poured(`${FRAME}[`, "[],", 31 * MIB, "[]]}"),
  "31 MB of valid numbers": () => poured(`${FRAME}[`, "1,", 31 * MIB, "1]}"),
  "31 MB of valid text": () => poured(`${FRAME}"`, "a", 31 * MIB, '"}'),
};

async function expectHarmless(work: () => Promise<unknown>, most = MAX_BLOCK_MS): Promise<void> {
  const blocks: number[] = [];
  do blocks.push(await longestBlock(work));
  while (blocks.length < MAX_TRIES && Math.min(...blocks) > most);
  expect(Math.min(...blocks)).toBeLessThanOrEqual(most);
}

function ledgerOver(...fetches: readonly Fetch[]): Ledger {
  const endpoints = fetches.map((fetch, index) => ({ url: `https://node${index}.example`, fetch }));
  return solanaLedger({ endpoints, clock: virtualClock() });
}

describe.each(Object.entries(ANSWERS))("%s", (_, answer) => {
  test("Q4: from a node: its fault, and the next one is asked", async () => {
    const honest = scriptedNode((call) =>
      result({ context: { slot: 5 }, value: call.method === "getBalance" ? 7 : [] })(call),
    );
    const ledger = ledgerOver(async () => answer(), honest.fetch);
    await ledger.balances(ADDRESS);
    await expectHarmless(async () => expect((await ledger.balances(ADDRESS)).lamports).toBe(7n));
    await ledger.close();
  });

  test.each(["getTransaction", "getTokenAccountsByOwner", "getBlock"] as const)(
    "Q4: from a node that is asked by %s",
    async (method) => {
      const clock = virtualClock();
      const closed = new AbortController().signal;
      const way = { url: "https://node.example", fetch: async () => answer(), headers: {}, timeoutMs: 8_000 };
      const call = singleCalls(postedCalls(boundedFetch(way, { pace: null, clock, closed })));
      const node = new RpcNode(call, { clock, closed });
      const ask = (): Promise<unknown> => {
        if (method === "getBlock") return node.getBlock(1);
        if (method === "getTransaction") return node.getTransaction("one");
        return node.getTokenAccountsByOwner(ADDRESS, { mint: ADDRESS }, "confirmed");
      };
      await expectHarmless(
        async () => await expect(ask()).rejects.toMatchObject({ kind: "garbled" }),
        method === "getBlock" ? MAX_BLOCK_OF_BLOCK_MS : MAX_BLOCK_MS,
      );
    },
  );

  test("Q4: from a price source, a screen or a key service, which a host reads with `readForeignJson`", async () => {
    await expectHarmless(
      async () => await expect(readForeignJson(answer(), 65_536)).rejects.toThrow("expected JSON"),
    );
  });

  test("Q4: from Jupiter", async () => {
    const client = new JupiterClient({
      apiKey: "key",
      url: "https://jupiter.example",
      fetch: async () => answer(),
      ask: async (_part, call) => await call(new AbortController().signal),
    });
    await expectHarmless(
      async () => await expect(client.execute(new Uint8Array(1), "id")).rejects.toThrow("expected JSON"),
    );
  });
});

test("Q4: a node that answers nothing else is unavailable, and says why", async () => {
  const ledger = ledgerOver(async () => poured(FRAME, "[", 15 * MIB));
  await expect(ledger.statuses(["one"])).rejects.toThrow(LedgerUnavailable);
  await ledger.close();
});

/** A block as large as is read, of transactions that name twenty accounts each. */
function largestBlock(): () => Response {
  const key = { pubkey: ADDRESS, signer: false, source: "transaction", writable: true };
  const transaction = JSON.stringify({
    meta: {
      err: null,
      fee: 5_000,
      postBalances: Array(20).fill(2_039_280),
      preBalances: Array(20).fill(2_039_280),
      status: { Ok: null },
    },
    transaction: { accountKeys: Array.from({ length: 20 }, () => key), signatures: ["1".repeat(88)] },
    version: 0,
  });
  const head = `${FRAME}{"blockhash":"b","previousBlockhash":"a","parentSlot":0,"blockHeight":1,"transactions":[`;
  const count = Math.floor((8 * MIB) / (transaction.length + 1));
  const text = `${head}${Array.from({ length: count }, () => transaction).join(",")}]}}`;
  return () => new Response(text);
}

test("Q4: an honest block as large as is read takes 300 ms at most", async () => {
  const clock = virtualClock();
  const closed = new AbortController().signal;
  const block = largestBlock();
  const way = { url: "https://node.example", fetch: async () => block(), headers: {}, timeoutMs: 8_000 };
  const bounded = boundedFetch(way, { pace: null, clock, closed });
  let count = 0;
  await expectHarmless(async () => {
    // Each call has the id "1", as the block says.
    const node = new RpcNode(singleCalls(postedCalls(bounded)), { clock, closed });
    count = (await node.getBlock(1))?.transactions.length ?? 0;
  }, MAX_BLOCK_OF_BLOCK_MS);
  expect(count).toBeGreaterThan(1_000);
});
