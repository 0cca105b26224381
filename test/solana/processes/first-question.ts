/** A process of its own, since others here have loaded everything: says whether web3.js was before and after a question. */
import { createRequire } from "node:module";
import { solanaLedger } from "paystate/solana";

const isLoaded = (): boolean =>
  Object.keys(createRequire(import.meta.url).cache).some((path) =>
    path.includes("node_modules/@solana/web3.js/"),
  );

const anybody = "11111111111111111111111111111111" as never;
const mint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v" as never;
const ledger = solanaLedger({
  endpoints: [{ url: "http://node.example", fetch: async () => new Response("", { status: 403 }) }],
});
const pure = [
  ledger.isOnCurve(anybody),
  ledger.markerOf(anybody, "0").length,
  ledger.tokenAccountOf(anybody, mint).length,
];
const before = isLoaded();
const said = await ledger.genesisHash().catch(String);
process.stdout.write(JSON.stringify({ pure, before, said, after: isLoaded() }));
