/** All that is outside the service, in a process of its own: the local chain, those who have money on it, and a client. */
import { sign } from "node:crypto";
import { privateKeyOf } from "../../src/core/ed25519.ts";
import { createLocalChain } from "../../src/local/index.ts";
import { systemClock } from "../../src/core/runtime.ts";
import { inParallel } from "./figures.ts";

/** How the chain is played, as JSON in the first argument. */
export interface ChainSettings {
  readonly slotMs: number;
  /** How deep a transaction is buried before it is called final; default 32. */
  readonly finalizedAfter?: number;
}

/** What it says first: where the chain answers, and whose it is. */
export interface Outside {
  readonly url: string;
  readonly mints: { readonly USDC: string; readonly USDT: string };
  /** Base64. */
  readonly sponsorKey: string;
  readonly treasury: string;
}

/**
 * What it is asked, so many of them: wallet sends; private orders, which are taken; their deposits, which are made. It
 * answers when all are posted, or on the chain.
 */
export interface Demand {
  readonly act: "send" | "order" | "deposit";
  readonly count: number;
  /** Where the service is, and a key for it. */
  readonly door: { readonly base: string; readonly key: string };
}

/** A transaction of one signature: its count, the signature, the message. */
const SIGNATURE_AT = 1;
const MESSAGE_AT = 65;
const SEED_BYTES = 32;
const AT_ONCE = 64;
const RECIPIENTS = 10;
const FUNDS = { lamports: 1_000_000_000_000n, usdc: 1_000_000_000_000n };
const ASSETS = { inputAsset: "USDC", outputAsset: "USDC" };

const { slotMs, finalizedAfter = 32 } = JSON.parse(process.argv[2] ?? "") as ChainSettings;
const confirmedAfter = Math.min(1, finalizedAfter);
const chain = await createLocalChain({ clock: systemClock, slotMs, confirmedAfter, finalizedAfter });
const { url } = await chain.listen({ port: 0, host: "127.0.0.1" });
const [sponsor, treasury, sender] = ["sponsor", "treasury", "sender"].map((name) =>
  chain.createWallet(name, FUNDS),
);
if (sponsor === undefined || treasury === undefined || sender === undefined) throw new Error("no wallets");
const senderKey = privateKeyOf(sender.secretKey.subarray(0, SEED_BYTES));
const payees = Array.from({ length: RECIPIENTS }, (_, index) =>
  chain.createWallet(`recipient ${index}`, { lamports: 1_000_000n, usdc: 1n }),
);
const taken: Readonly<Record<string, string>>[] = [];

async function post(
  path: string,
  body: object,
  { base, key }: Demand["door"],
): Promise<Record<string, string>> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(base + path, { method: "POST", headers, body: JSON.stringify(body) });
  const answer = (await response.json()) as Record<string, string>;
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer;
}

/** Posts one order, quoted first and in wallet mode signed, to one of those who have token accounts. */
async function order(mode: "wallet" | "private", index: number, door: Demand["door"]) {
  const amount = mode === "wallet" ? "0.01" : "1";
  const recipients = [{ address: payees[index % RECIPIENTS]?.address, amount }];
  const about = { mode, sender: sender?.address, recipients };
  const { quoteId, transaction = "" } = await post("/v1/quotes", { ...ASSETS, amount, ...about }, door);
  if (mode === "private") return post("/v1/transactions", { type: "send", quoteId, ...about }, door);
  const bytes = Buffer.from(transaction, "base64");
  bytes.set(sign(null, bytes.subarray(MESSAGE_AT), senderKey), SIGNATURE_AT);
  const signedTransaction = bytes.toString("base64");
  return post("/v1/transactions", { type: "send", quoteId, ...about, signedTransaction }, door);
}

async function carryOut({ act, count, door }: Demand): Promise<void> {
  if (act === "deposit") {
    for (const { ephemeralAddress = "", depositAmount = "" } of taken.splice(0, count)) {
      chain.fund(ephemeralAddress, { usdc: BigInt(Math.round(Number(depositAmount) * 1e6)) });
    }
  } else {
    const mode = act === "send" ? "wallet" : "private";
    await inParallel(count, AT_ONCE, async (index) => {
      const ordered = await order(mode, index, door);
      if (mode === "private") taken.push(ordered);
    });
  }
  process.send?.({ done: act });
}

// An error ends this process; its exit code tells the process that started it.
process.on("message", (demand: Demand) => void carryOut(demand));
process.on("disconnect", () => process.exit());
const ready: Outside = {
  url,
  mints: chain.mints,
  sponsorKey: Buffer.from(sponsor.secretKey).toString("base64"),
  treasury: treasury.address,
};
process.send?.(ready);
