/** Alice pays for an order: `npm run pay`, or `npm run pay -- order-2` for another order. One order is paid once. */
import { existsSync, readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { Keypair } from "@solana/web3.js";
import { createClient } from "paystate/client";
import { sendPrice } from "./send-price.ts";

/** The text of a file that the first `npm start` writes. */
async function written(name: string): Promise<string> {
  const text = existsSync(`data/${name}`) ? readFileSync(`data/${name}`, "utf8") : "";
  if (text !== "") return text;
  console.log("waiting for npm start in another terminal");
  await setTimeout(1_000);
  return written(name);
}

const [order = "order-1"] = process.argv.slice(2);
const baseUrl = `http://127.0.0.1:${process.env["PORT"] ?? 3000}`;
// A service that still starts is asked again for a minute.
const client = createClient({ baseUrl, apiKey: await written("key"), retries: 20, maxWaitMs: 60_000 });
const alice = Keypair.fromSecretKey(Uint8Array.from(JSON.parse(await written("alice.json")) as number[]));

const id = await sendPrice(client, { order, from: alice, to: await written("shop-address") });
console.log(`${order} is taken as ${id}`);
const { signature } = await client.waitFor(id, "completed", { signal: AbortSignal.timeout(120_000) });
console.log(`${order} is completed: ${String(signature)}`);
