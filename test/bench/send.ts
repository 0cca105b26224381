/** Complete wallet sends per second over HTTP, verification included; and what they ask of the ledger. */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStorage } from "../kit/storages.ts";
import { createPaymentService } from "../../src/service/create-payment-service.ts";
import { createHttpHandler } from "../../src/http/create-http-handler.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { createLocalChain } from "../../src/local/index.ts";
import { systemClock } from "../../src/runtime.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";
import { echoingNode } from "./echoing-node.ts";
import { timed, type Report } from "./figures.ts";
import { cpuTime } from "./ledger-calls.ts";
import type { SendClientData } from "./send-client.ts";

const SENDS = 1_000;
const POLL_MS = 500;
const SEED_BYTES = 32;
const METHOD = /"method":"(\w+)"/g;
const CALLS_PER_BATCH = 20;
const STATUS_METHODS = new Set(["getSignatureStatuses"]);
const NO_LIMIT = { free: 1_000_000, pro: 1_000_000, enterprise: 1_000_000 };

/** What the service is measured on. */
interface Surroundings {
  readonly slotMs: number;
  /** How deep the chain buries a transaction before it calls it final. */
  readonly finalizedAfter: number;
  /** What stands between the service and the chain. */
  readonly nodeOf: (chain: typeof fetch) => typeof fetch;
  readonly callsPerBatch?: number;
}

/** What a run has shown. */
interface Sends {
  readonly perSecond: number;
  /** Of this process: the service and the chain, without the client. */
  readonly cpuMsPerSend: number;
  readonly callsPerSend: number;
  readonly requestsPerSend: number;
  readonly statusCallsPerSend: number;
}

/** One run posts all sends, so that they are in flight together, and waits for the last to be final. */
async function sendsPerSecond(surroundings: Surroundings): Promise<Sends> {
  const { slotMs, finalizedAfter, nodeOf, callsPerBatch = 1 } = surroundings;
  const folder = mkdtempSync(join(tmpdir(), "paystate-bench-"));
  const confirmedAfter = Math.min(1, finalizedAfter);
  const chain = await createLocalChain({ clock: systemClock, slotMs, confirmedAfter, finalizedAfter });
  const calls = new Map<string, number>();
  let requests = 0;
  const node = nodeOf(chain.fetch);
  const counted: typeof fetch = (input, init) => {
    const body = typeof init?.body === "string" ? init.body : "";
    requests += 1;
    for (const [, method = ""] of body.matchAll(METHOD)) {
      calls.set(method, (calls.get(method) ?? 0) + 1);
    }
    return node(input, init);
  };
  const storage = await sqliteStorage(join(folder, "send.db"));
  const ledger = solanaLedger({ endpoints: [{ url: "http://local", fetch: counted, callsPerBatch }] });
  const service = createPaymentService({
    storage,
    ledger,
    masterSecrets: [TEST_MASTER_SECRET],
    stablecoins: chain.mints,
    ledgerPollMs: POLL_MS,
  });
  await service.start();
  const limits = { reads: NO_LIMIT, quotes: NO_LIMIT, creates: NO_LIMIT };
  const handler = createHttpHandler({ service, limits });
  const server = createServer((request, response) => void handler.node(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { accountId } = await service.createAccount({ name: "bench", tier: "enterprise" });
  const { key } = await service.issueKey({ accountId, environment: "test" });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const alice = chain.createWallet("alice", { lamports: 100_000_000_000n, usdc: 100_000_000_000n });
  const bob = chain.createWallet("bob", { lamports: 1_000_000_000n, usdc: 1n });
  await new Promise((resolve) => {
    setTimeout(resolve, slotMs * (finalizedAfter + 3));
  });

  /** Resolves when so many more sends are final. */
  const completed = (count: number): Promise<void> =>
    new Promise((resolve) => {
      let left = count;
      const stop = service.subscribe({ events: ["transaction.completed"] }, () => {
        left -= 1;
        if (left > 0) return;
        stop();
        resolve();
      });
    });
  const data: SendClientData = {
    base,
    key,
    sender: alice.address,
    seed: Buffer.from(alice.secretKey.subarray(0, SEED_BYTES)).toString("base64"),
    recipient: bob.address,
  };
  const client = fork(new URL("./send-client.js", import.meta.url), [JSON.stringify(data)]);
  const failed = new Promise<never>((_, reject) => {
    client.once("exit", (code) => reject(new Error(`the client ended with ${code}`)));
    // On a machine that is too busy, blockhashes end before what is signed over them is sent.
    service.subscribe({ events: ["transaction.failed"] }, (notice) => {
      reject(new Error(`a send has failed: ${JSON.stringify(notice)}`));
    });
  });
  const send = async (count: number): Promise<void> => {
    const all = completed(count);
    client.send(count);
    await Promise.race([all, failed]);
  };
  try {
    await send(1);
    calls.clear();
    requests = 0;
    const cpu = cpuTime();
    const { seconds } = await timed(() => send(SENDS));
    const cpuMs = (cpuTime() - cpu) / 1_000;
    const total = [...calls.values()].reduce((sum, count) => sum + count, 0);
    const statusCalls = [...calls]
      .filter(([method]) => STATUS_METHODS.has(method))
      .reduce((sum, [, count]) => sum + count, 0);
    return {
      perSecond: SENDS / seconds,
      cpuMsPerSend: cpuMs / SENDS,
      callsPerSend: total / SENDS,
      requestsPerSend: requests / SENDS,
      statusCallsPerSend: statusCalls / SENDS,
    };
  } finally {
    client.removeAllListeners("exit");
    client.kill();
    server.close();
    server.closeAllConnections();
    await service.stop();
    await ledger.close();
    await storage.close();
    await chain.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Quote, signature, POST, broadcast and finality of each, the client included. */
export async function benchSend(report: Report): Promise<void> {
  const local = (chain: typeof fetch): typeof fetch => chain;
  const ours = await sendsPerSecond({ slotMs: 50, finalizedAfter: 0, nodeOf: echoingNode });
  report({
    name: "send, a ledger without latency",
    perSecond: ours.perSecond,
    "CPU ms/send": ours.cpuMsPerSend,
    "calls/send": ours.callsPerSend,
  });
  const instant = await sendsPerSecond({ slotMs: 100, finalizedAfter: 0, nodeOf: local });
  report({
    name: "send, local chain, final at once",
    perSecond: instant.perSecond,
    "CPU ms/send": instant.cpuMsPerSend,
    "calls/send": instant.callsPerSend,
  });
  for (const callsPerBatch of [1, CALLS_PER_BATCH]) {
    const buried = await sendsPerSecond({ slotMs: 100, finalizedAfter: 32, nodeOf: local, callsPerBatch });
    const how = callsPerBatch === 1 ? "" : `, ${callsPerBatch} calls a batch`;
    report({
      name: `send, ${SENDS} in flight, 3.2 s to finality${how}`,
      perSecond: buried.perSecond,
      "CPU ms/send": buried.cpuMsPerSend,
      "calls/send": buried.callsPerSend,
      "requests/send": buried.requestsPerSend,
      "status calls/send": buried.statusCallsPerSend,
    });
  }
}
