/** The demo: a payment from quote to finality, then another whose service is killed right after it was taken. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { atTheEnd, runWithCleanUp } from "./clean-up.ts";
import { createClient } from "./client.ts";
import type { Client } from "./client.ts";
import { endProcesses, startProcess } from "./processes.ts";
import type { StartedProcess } from "./processes.ts";
import { startReceiver } from "./receiver.ts";
import type { Receiver } from "./receiver.ts";
import { fail, money, note, ok, step, title } from "./screen.ts";
import { signInWallet } from "./wallet.ts";
import type { ChainReady, ServiceReady, ServiceSettings } from "./settings.ts";

const AMOUNT = "12.5";
// A free key may ask 120 times a minute.
const POLL_MS = 200;
const NOTICES = ["transaction.pending", "transaction.confirmed", "transaction.completed"];
const script = (name: string): string => fileURLToPath(new URL(`./${name}.ts`, import.meta.url));

async function demo(): Promise<void> {
  title("Starting a Solana chain, a payment service and a webhook receiver");
  const folder = mkdtempSync(join(tmpdir(), "paystate-demo-"));
  atTheEnd(() => rmSync(folder, { recursive: true, force: true }));
  atTheEnd(endProcesses);
  const { ready: chain } = await startProcess<ChainReady>(script("chain"), []);
  note(`chain     ${chain.rpcUrl} (a real Solana runtime, slots of 100 ms)`);
  const secret = `whsec_${randomBytes(24).toString("base64")}`;
  const receiver = await startReceiver(secret);
  atTheEnd(receiver.close);
  note(`receiver  ${receiver.url}`);

  const settings: ServiceSettings = {
    database: join(folder, "payments.db"),
    rpcUrl: chain.rpcUrl,
    mints: chain.mints,
    masterSecret: randomBytes(32).toString("hex"),
    receiverAuthority: receiver.certificateAuthority,
  };
  const settingsFile = join(folder, "settings.json");
  writeFileSync(settingsFile, JSON.stringify(settings), { mode: 0o600 });
  const startService = (): Promise<StartedProcess<ServiceReady>> =>
    startProcess<ServiceReady>(script("service"), [settingsFile]);

  const service = await startService();
  const { apiKey } = service.ready;
  const client = createClient(service.ready.baseUrl, apiKey);
  note(`service   ${client.baseUrl}/v1`);
  await client.post("/v1/webhooks", {
    url: receiver.url,
    events: [...NOTICES, "transaction.failed"],
    secret,
  });

  title(`Alice sends Bob ${AMOUNT} USDC`);
  const before = await showBalances("before", client, chain);
  const first = await quoteSignPost(client, chain);
  await follow(client, first);
  await showEnd(client, chain, receiver, { transactionId: first, before });

  title("Again, and the service is killed (SIGKILL) right after it took the payment");
  const beforeKill = await showBalances("before", client, chain);
  const second = await quoteSignPost(client, chain);
  await service.kill();
  step("kill", "the service is gone; the chain goes on without it");
  const { ready: restarted } = await startService();
  const clientAfter = createClient(restarted.baseUrl, apiKey);
  step("restart", "a new process on the same database goes on where the old one was killed");
  await follow(clientAfter, second);
  await showEnd(clientAfter, chain, receiver, { transactionId: second, before: beforeKill });
  title("Each payment was made once, and every notice was delivered and verified.");
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
  step("quote", `${text(quote, "quoteId")}, fee ${text(quote, "fee")} ${text(quote, "feeAsset")}`);
  const signedTransaction = await signInWallet(text(quote, "transaction"), alice.secretKey);
  step("sign", "Alice's wallet signs the quoted transaction");
  const created = await client.post("/v1/transactions", {
    type: "send",
    quoteId: quote["quoteId"],
    sender: alice.address,
    recipients,
    signedTransaction,
  });
  step("post", text(created, "transactionId"));
  step("status", text(created, "status"));
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
    const { status, reason, signature } = await client.get(`/v1/transactions/${transactionId}`);
    if (status === "failed" || status === "cancelled") fail(`the transaction ${status}: ${String(reason)}`);
    if (status !== shown) step("status", `${shown} → ${String(status)}`);
    if (status === "completed") step("on chain", String(signature));
    shown = String(status);
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS);
    });
  }
}

/** What both own, in millionths of a USDC. */
interface Balances {
  readonly alice: bigint;
  readonly bob: bigint;
}

async function showBalances(when: string, client: Client, chain: ChainReady): Promise<Balances> {
  const alice = await usdcOf(client, chain.alice.address);
  const bob = await usdcOf(client, chain.bob.address);
  step(when, `Alice has ${money(`${alice} USDC`)}, Bob has ${money(`${bob} USDC`)}`);
  return { alice: millionths(alice), bob: millionths(bob) };
}

async function usdcOf(client: Client, address: string): Promise<string> {
  const { tokens } = await client.get(`/v1/balances/${address}`);
  const usdc = (tokens as { symbol: string; balance: string }[]).find(({ symbol }) => symbol === "USDC");
  return usdc?.balance ?? "0";
}

/** Amounts travel as decimal text and are counted as whole numbers, never as floating point. */
function millionths(amount: string): bigint {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(whole + fraction.padEnd(6, "0"));
}

/** Compares what the chain and the receiver know with what was asked for. */
async function showEnd(
  client: Client,
  chain: ChainReady,
  receiver: Receiver,
  { transactionId, before }: { transactionId: string; before: Balances },
): Promise<void> {
  await receiver.completed(transactionId);
  const after = await showBalances("after", client, chain);
  const paid = millionths(AMOUNT);
  if (after.bob - before.bob !== paid) fail("Bob was not paid exactly once");
  if (before.alice - after.alice !== paid) fail("Alice did not pay exactly once");
  ok("Alice paid once, Bob was paid once");
  const events = receiver.eventsOf(transactionId);
  for (const { event, verified } of events) {
    if (!verified) fail(`the signature of ${event} is wrong`);
    ok(`webhook ${event}, signature verified`);
  }
  const distinct = [...new Set(events.map(({ event }) => event))];
  if (distinct.join() !== NOTICES.join()) fail(`expected the notices ${NOTICES.join(", ")}`);
}

await runWithCleanUp(demo);
