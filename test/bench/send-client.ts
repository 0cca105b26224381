/** The client of the bench of sends, in a process of its own: it quotes, signs and posts, and its work is not the service's. */
import { sign } from "node:crypto";
import { privateKeyOf } from "../../src/ed25519.ts";
import { inParallel } from "./figures.ts";

/** Whom the client speaks to and for whom it pays. */
export interface SendClientData {
  readonly base: string;
  readonly key: string;
  readonly sender: string;
  /** Base64. */
  readonly seed: string;
  readonly recipient: string;
}

/** A transaction of one signature: its count, the signature, the message. */
const SIGNATURE_AT = 1;
const MESSAGE_AT = 65;
const AT_ONCE = 64;

const { base, key, sender, seed, recipient } = JSON.parse(process.argv[2] ?? "") as SendClientData;
const privateKey = privateKeyOf(Buffer.from(seed, "base64"));
const recipients = [{ address: recipient, amount: "0.01" }];
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };

async function post(path: string, body: unknown): Promise<Record<string, string>> {
  const response = await fetch(base + path, { method: "POST", headers, body: JSON.stringify(body) });
  const answer = (await response.json()) as Record<string, string>;
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer;
}

async function send(): Promise<void> {
  const assets = { inputAsset: "USDC", outputAsset: "USDC", amount: "0.01" };
  const { quoteId, transaction = "" } = await post("/v1/quotes", { ...assets, sender, recipients });
  const bytes = Buffer.from(transaction, "base64");
  bytes.set(sign(null, bytes.subarray(MESSAGE_AT), privateKey), SIGNATURE_AT);
  const signedTransaction = bytes.toString("base64");
  await post("/v1/transactions", { type: "send", quoteId, sender, recipients, signedTransaction });
}

// A number is how many to send; nothing is answered. An error ends this process.
process.on("message", (count: number) => void inParallel(count, AT_ONCE, send));
