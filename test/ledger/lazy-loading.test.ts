/** The entry is cheap to import: 100 ms of Solana libraries wait until a node is asked. */
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { solanaLedger } from "../../src/ledger/solana/index.ts";

const isLoaded = (name: string): boolean =>
  Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes(`node_modules/${name}/`));

test("web3.js is loaded by the first question, not by the import, the factory, the curve test or a marker", async () => {
  const ledger = solanaLedger({
    endpoints: [{ url: "http://node.example", fetch: async () => new Response("", { status: 403 }) }],
  });
  expect(ledger.isOnCurve("11111111111111111111111111111111" as never)).toBe(true);
  expect(ledger.markerAddress("11111111111111111111111111111111" as never, "seed")).toHaveLength(44);
  expect(isLoaded("@solana/web3.js")).toBe(false);
  await expect(ledger.genesisHash()).rejects.toThrow("HTTP 403");
  expect(isLoaded("@solana/web3.js")).toBe(true);
});
