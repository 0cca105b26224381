/** `paystate dev --json` as a client sees it: its one line, and the API and the chain behind the addresses in it. */
import bs58 from "bs58";
import { Connection } from "@solana/web3.js";
import type { DevStatus } from "../../src/cli/dev-status.ts";
import { signPayment } from "../kit/chain-fixture.ts";
import { type Running, startCommand } from "./command.ts";

/** A running `paystate dev`. */
export interface DevSession extends Running, DevStatus {}

/** How it is started. */
interface DevOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A data folder and the `paystate dev` on it, of which another is started when one has ended. */
export class DevHome {
  readonly folder: string;
  readonly #usual: DevOptions;
  #dev: DevSession | null = null;

  constructor(folder: string, usual: DevOptions = {}) {
    this.folder = folder;
    this.#usual = usual;
  }

  /** The newest. */
  get dev(): DevSession {
    if (this.#dev === null) throw new Error("none was started");
    return this.#dev;
  }

  async start(options = this.#usual): Promise<this> {
    this.#dev = await startDev(this.folder, options);
    return this;
  }
}

/** Starts `paystate dev --json` on a folder, on any free ports, and reads its line. */
export async function startDev(
  folder: string,
  { args = [], env = {} }: DevOptions = {},
): Promise<DevSession> {
  const ports = ["--port", "0", "--rpc-port", "0"];
  const process = startCommand(["dev", "--json", "--data", folder, ...ports, ...args], env);
  await process.said(/\n/);
  return { ...process, ...(JSON.parse(process.stdout()) as DevStatus) };
}

/** An answer of the API. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** One call of the API; with a body it is a POST. */
export async function call(
  dev: DevStatus,
  path: string,
  body?: unknown,
  tier: Tier = "free",
): Promise<Answer> {
  const response = await fetch(`${dev.baseUrl}/v1${path}`, {
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${dev.apiKeys[tier]}`, "content-type": "application/json" },
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
}

type Tier = keyof DevStatus["apiKeys"];

/** Quotes, signs and posts a send of USDC from the first wallet to the second; the transaction's id. */
export async function send(dev: DevStatus, amount: string): Promise<string> {
  const [alice, bob] = dev.wallets;
  if (alice === undefined || bob === undefined) throw new Error("expected two wallets");
  const payment = { sender: alice.address, recipients: [{ address: bob.address, amount }] };
  const quote = await call(dev, "/quotes", { inputAsset: "USDC", outputAsset: "USDC", amount, ...payment });
  const unsigned = Buffer.from(String(quote.body["transaction"]), "base64");
  const signedTransaction = signPayment(unsigned, bs58.decode(alice.secretKey));
  const { quoteId } = quote.body;
  const created = await call(dev, "/transactions", { type: "send", quoteId, ...payment, signedTransaction });
  if (created.status !== 201) throw new Error(`not taken: ${JSON.stringify(created.body)}`);
  return String(created.body["transactionId"]);
}

/** Asks for a transaction until it is final; its last answer. */
export async function untilFinal(dev: DevStatus, transactionId: string): Promise<Record<string, unknown>> {
  for (;;) {
    const { body } = await call(dev, `/transactions/${transactionId}`, undefined, "free");
    if (["completed", "failed", "cancelled"].includes(String(body["status"]))) return body;
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
  }
}

/** What a wallet owns: SOL and each stablecoin by its symbol. */
export async function balances(dev: DevStatus, wallet: number): Promise<Record<string, string>> {
  const { body } = await call(dev, `/balances/${dev.wallets[wallet]?.address}`, undefined, "enterprise");
  const tokens = body["tokens"] as { symbol: string; balance: string }[];
  return {
    SOL: String(body["sol"]),
    ...Object.fromEntries(tokens.map(({ symbol, balance }) => [symbol, balance])),
  };
}

/** The chain behind it, as every Solana program talks to one. */
export function connection(dev: DevStatus): Connection {
  return new Connection(dev.rpcUrl, "confirmed");
}
