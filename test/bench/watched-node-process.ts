/** A node in a process of its own, at whose chain nothing is at any watched address until one is paid. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import bs58 from "bs58";
import { quietNode, tokenAccount } from "./quiet-node.ts";

/** What it is told, as JSON in the first argument. */
export interface WatchedNodeSettings {
  /** The chain that answers what is asked of no watched address. */
  readonly chain: string;
  readonly latencyMs: number;
}

/** Asked of it: money at a token account. */
export interface PaidDemand {
  readonly account: string;
  readonly owner: string;
  readonly mint: string;
  readonly units: string;
}

const { chain, latencyMs } = JSON.parse(process.argv[2] ?? "") as WatchedNodeSettings;
const paid = new Map<string, object>();
const answer = quietNode(chain, paid);
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    void (async () => {
      const told = await answer(chain, {
        method: "POST",
        body: Buffer.concat(chunks).toString("utf8"),
        headers: { "content-type": "application/json" },
      });
      await wait(latencyMs);
      response.setHeader("content-type", "application/json");
      response.end(await told.text());
    })();
  });
});
server.listen(0, "127.0.0.1", () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on("message", ({ account, owner, mint, units }: PaidDemand) => {
  paid.set(account, tokenAccount(bs58.decode(mint), bs58.decode(owner), BigInt(units)));
  process.send?.({});
});
// Whoever asked for the node is gone.
process.on("disconnect", () => process.exit());
