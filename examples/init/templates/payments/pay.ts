/** Alice pays Bob 1.5 SOL: `npm run pay`, or `npm run pay -- order-2` for another order. One order is paid once. */
import { readFileSync } from "node:fs";
import { Keypair } from "@solana/web3.js";
import { createClient } from "paystate/client";
import { sendSol } from "./send-sol.ts";

const [order = "order-1"] = process.argv.slice(2);
const baseUrl = `http://127.0.0.1:${process.env["PORT"] ?? 3000}`;
const client = createClient({ baseUrl, apiKey: readFileSync("data/key", "utf8") });
const alice = Keypair.fromSecretKey(
  Uint8Array.from(JSON.parse(readFileSync("data/alice.json", "utf8")) as number[]),
);

const id = await sendSol(client, { order, from: alice, to: Keypair.generate().publicKey.toBase58() });
console.log(`${order} is taken as ${id}`);
const { signature } = await client.waitFor(id, "completed", { signal: AbortSignal.timeout(120_000) });
console.log(`${order} is completed: ${String(signature)}`);
