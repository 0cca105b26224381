/** The demo: a payment from quote to finality, then another whose service is killed right after it was taken. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "./client.ts";
import type { Client } from "./client.ts";
import { startProcess } from "./processes.ts";
import { startReceiver } from "./receiver.ts";
import type { Receiver } from "./receiver.ts";
import { fail, money, note, ok, step, title } from "./screen.ts";
import { signInWallet } from "./wallet.ts";
import type { ChainReady, ServiceReady, ServiceSettings } from "./settings.ts";

const AMOUNT = "12.5";
const script = (name: string): string => fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "paystate-demo-"));
const cleanUps: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];

async function demo(): Promise<void> {
  title("Starting a Solana chain, a payment service and a webhook receiver");
  const chain = await startProcess<ChainReady>(script("chain"), []);
  cleanUps.unshift(chain.stop);
  note(`chain      ${chain.ready.rpcUrl} (a real Solana runtime, slots of 100 ms)`);
  const secret = `whsec_${randomBytes(24).toString("base64")}`;
  const receiver = await startReceiver(secret);
  cleanUps.unshift(receiver.close);
  note(`receiver   ${receiver.url}`);

  const settings: ServiceSettings = {
    database: join(folder, "payments.db"),
    rpcUrl: chain.ready.rpcUrl,
    mints: chain.ready.mints,
    masterSecret: randomBytes(32).toString("hex"),
    receiverAuthority: receiver.certificateAuthority,
  };
  const settingsFile = join(folder, "settings.json");
  writeFileSync(settingsFile, JSON.stringify(settings), { mode: 0o600 });
  const startService = (): ReturnType<typeof startProcess<ServiceReady>> =>
    startProcess<ServiceReady>(script("service"), [settingsFile]);

  let service = await startService();
  cleanUps.unshift(() => service.stop());
  const apiKey = service.ready.apiKey;
  let client = createClient(service.ready.baseUrl, apiKey);
  note(`service    ${client.baseUrl}/v1`);
  await client.post("/v1/webhooks", {
    url: receiver.url,
    events: ["transaction.pending", "transaction.confirmed", "transaction.completed", "transaction.failed"],
    secret,
  });

  title(`Alice sends Bob ${AMOUNT} USDC`);
  const before = await bobsBalance(client, chain.ready);
  const first = await quoteSignPost(client, chain.ready);
  await follow(client, first);
  await receiver.completed(first);
  await showEnd(client, chain.ready, receiver, { transactionId: first, before });

  title("Again, and the service is killed (SIGKILL) right after it took the payment");
  const beforeKill = await bobsBalance(client, chain.ready);
  const second = await quoteSignPost(client, chain.ready);
  await service.kill();
  ok("service killed; the chain goes on without it");
  service = await startService();
  client = createClient(service.ready.baseUrl, apiKey);
  ok("service started again on the same database");
  await follow(client, second);
  await receiver.completed(second);
  await showEnd(client, chain.ready, receiver, { transactionId: second, before: beforeKill });
  title("Paid once each, every notice delivered and verified.");
}

/** Asks for a quote, has Alice's wallet sign the transaction it brings, and posts it. */
async function quoteSignPost(client: Client, { alice, bob }: ChainReady): Promise<string> {
  const recipients = [{ address: bob.address, amount: AMOUNT }];
  const quote = await client.post("/v1/quotes", {
    inputAsset: "USDC",
    outputAsset: "USDC",
    amount: AMOUNT,
    sender: alice.address,
    recipients,
  });
  step(
    "quote",
    `${text(quote, "quoteId")}: ${AMOUNT} USDC, fee ${text(quote, "fee")} ${text(quote, "feeAsset")}`,
  );
  const signedTransaction = await signInWallet(text(quote, "transaction"), alice.secretKey);
  step("sign", "the wallet signed the quoted transaction");
  const created = await client.post("/v1/transactions", {
    type: "send",
    quoteId: quote["quoteId"],
    sender: alice.address,
    recipients,
    signedTransaction,
  });
  step("post", `${text(created, "transactionId")} is ${text(created, "status")}`);
  return text(created, "transactionId");
}

/** A field of an answer that is known to be text. */
function text(answer: Record<string, unknown>, field: string): string {
  return String(answer[field]);
}

/** Shows each new status until the transaction is final. */
async function follow(client: Client, transactionId: string): Promise<void> {
  let shown = "pending";
  while (shown !== "completed") {
    const { status, reason } = await client.get(`/v1/transactions/${transactionId}`);
    if (status === "failed" || status === "cancelled") fail(`the transaction ${status}: ${String(reason)}`);
    if (status !== shown) step("status", `${shown} → ${String(status)}`);
    shown = String(status);
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}

async function bobsBalance(client: Client, { bob }: ChainReady): Promise<string> {
  const { tokens } = await client.get(`/v1/balances/${bob.address}`);
  const usdc = (tokens as { symbol: string; balance: string }[]).find(({ symbol }) => symbol === "USDC");
  return usdc?.balance ?? "0";
}

/** Compares what the chain and the receiver know with what was asked for. */
async function showEnd(
  client: Client,
  chain: ChainReady,
  receiver: Receiver,
  { transactionId, before }: { transactionId: string; before: string },
): Promise<void> {
  const after = await bobsBalance(client, chain);
  ok(`Bob had ${money(before)} USDC and has ${money(after)} USDC`);
  // Both are decimal strings of six places at most; a demo may compare them as numbers of millionths.
  const millionths = (amount: string): number => Math.round(Number(amount) * 1e6);
  if (millionths(after) - millionths(before) !== millionths(AMOUNT)) fail("Bob was not paid exactly once");
  const events = receiver.eventsOf(transactionId);
  for (const { event, verified } of events) {
    if (!verified) fail(`the signature of ${event} is wrong`);
    ok(`webhook ${event}, signature verified`);
  }
  const expected = ["transaction.pending", "transaction.confirmed", "transaction.completed"];
  const distinct = [...new Set(events.map(({ event }) => event))];
  if (distinct.join() !== expected.join()) fail(`expected the notices ${expected.join(", ")}`);
}

let exitCode = 0;
try {
  await demo();
} catch (error) {
  exitCode = 1;
  process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
}
for (const cleanUp of cleanUps) await cleanUp();
process.exitCode = exitCode;
