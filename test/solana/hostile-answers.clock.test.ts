/** Q4: answers made to stop whoever reads them, from nodes and from all others who are asked: the event loop goes on. */
import { describe, expect, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import { readForeignJson } from "../../src/core/foreign-json.ts";
import { LedgerUnavailable, type Ledger } from "../../src/ledger/ledger.ts";
import { solanaLedger, type Fetch } from "../../src/solana/index.ts";
import { RpcNode } from "../../src/solana/rpc/rpc-node.ts";
import { boundedFetch } from "../../src/solana/rpc/bounded-fetch.ts";
import { postedCalls, singleCalls } from "../../src/solana/rpc/rpc-call.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { expectHarmless, FRAME, HOSTILE_ANSWERS, MAX_BLOCK_MS, MIB, poured } from "./hostile-answers.ts";
import { result, scriptedNode } from "./scripted-node.ts";

/** Of an answer to `getBlock`, which `deathProof: "blocks"` asks for. */
const MAX_BLOCK_OF_BLOCK_MS = 300;
const ADDRESS = "Vote111111111111111111111111111111111111111" as Address;

function ledgerOver(...fetches: readonly Fetch[]): Ledger {
  const endpoints = fetches.map((fetch, index) => ({ url: `https://node${index}.example`, fetch }));
  return solanaLedger({ endpoints, clock: virtualClock() });
}

describe.each(Object.entries(HOSTILE_ANSWERS))("%s", (_, answer) => {
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
