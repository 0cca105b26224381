/** Registers webhooks at a receiver of this machine and sends one a sample: what the guard lets through, and what not. */
// modules: webhooks
import { createHttpHandler, createPaymentService } from "paystate";
import { systemClock } from "paystate/engine";
import { createLocalChain } from "paystate/local";
import { solanaLedger } from "paystate/solana";
import { sqliteStorage } from "paystate/storage/sqlite";

/** Where the receiver is, who signed its certificate, and an authority that did not. */
const { URL_OF_RECEIVER: url = "", CA: ca = "", OTHER_CA: otherCa = "" } = process.env;
const chain = await createLocalChain({ clock: systemClock, slotMs: 20 });
const ledger = solanaLedger({ endpoints: [(await chain.listen({ port: 0, host: "127.0.0.1" })).url] });
const storage = await sqliteStorage(":memory:");

/** Asks the API of a service that trusts this authority, and opens loopback or nothing. */
async function withService(opens: boolean, trusted: string): Promise<void> {
  const service = createPaymentService({
    storage,
    ledger,
    masterSecrets: [{ version: 1, secret: Buffer.alloc(32, 7) }],
    webhooks: { allowAddress: (ip) => opens && ip === "127.0.0.1", ca: trusted },
  });
  await service.start();
  const { accountId } = await service.createAccount({ name: "a customer", tier: "pro" });
  const { key } = await service.issueKey({ accountId, environment: "test" });
  const handler = createHttpHandler({ service });
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const request = new Request(`http://127.0.0.1/v1/${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return (await (await handler.fetch(request)).json()) as Record<string, unknown>;
  };
  const made = await post("webhooks", { url, events: ["transaction.completed"] });
  console.log("registered", (made["error"] as { code?: string } | undefined)?.code ?? "ok");
  if (made["error"] === undefined) {
    const tested = await post(`webhooks/${String(made["webhookId"])}/test`, {
      event: "transaction.completed",
    });
    console.log("delivered", tested["delivered"]);
  }
  await service.stop();
}

await withService(true, ca);
await withService(false, ca);
// An authority that has signed nothing here: the receiver cannot prove its name.
await withService(true, otherCa);
await ledger.close();
await chain.close();
console.log("done");
