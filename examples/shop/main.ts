/**
 * A shop that takes USDC and SOL: Express, wallets in the browser, webhooks, refunds. README.md beside this file walks through it.
 * All of it at once, with a chain and a payment service of its own: `npx tsx examples/shop/start.ts`.
 */
// oxlint-disable oxc/no-async-endpoint-handlers -- Express 5 hands a rejection to the last handler
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import bs58 from "bs58";
import express, { type NextFunction, type Request, type Response } from "express";
import { createClient, isApiError } from "paystate/client";
import { sqliteStorage } from "paystate/storage/sqlite";
import { verifyWebhook, WebhookRefused } from "paystate/webhook";
import { paymentOf, type Order } from "./order.ts";
import { Orders } from "./orders.ts";
import { order, quote, ShopWallet, type Payment } from "./payments.ts";

function needed(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is missing`);
  return value;
}

/** The fields of a body that came from outside. */
const fieldsOf = ({ body }: Request): Readonly<Record<string, unknown>> =>
  (body ?? {}) as Readonly<Record<string, unknown>>;

/** In whole units of the asset, as short as the service writes them. */
const PRICES: ReadonlyMap<unknown, Pick<Order, "asset" | "price">> = new Map([
  ["lamp", { asset: "USDC", price: "12.5" }],
  ["piano", { asset: "USDC", price: "900" }],
  ["poster", { asset: "SOL", price: "0.1" }],
]);

const client = createClient({ baseUrl: needed("PAYMENTS_URL"), apiKey: needed("API_KEY") });
const wallet = new ShopWallet(needed("SHOP_SECRET_KEY"));
const storage = await sqliteStorage(process.argv[2] ?? "orders.db");
const orders = new Orders({ storage, client, wallet });
const app = express();

/** What a customer pays for an order. */
const paymentFor = (found: Order): Payment => ({
  reference: paymentOf(found),
  address: wallet.address,
  asset: found.asset,
  amount: found.price,
});

// The signature is over the bytes as they came, so this stands before the parser of JSON.
app.post("/webhook", express.raw({ type: () => true }), async (request, response) => {
  const notice = await verifyWebhook(request.body as Buffer, request.headers, needed("WEBHOOK_SECRET"));
  await orders.hear(notice);
  response.sendStatus(200);
});

app.use(express.json());
app.use(express.static(fileURLToPath(new URL("page", import.meta.url))));
app.use(
  "/wallet-standard",
  express.static(dirname(fileURLToPath(import.meta.resolve("@wallet-standard/app")))),
);

/** The id comes from the page, so that a request which is sent twice makes one order. The price never does. */
app.put("/orders/:id", async (request, response) => {
  const { id } = request.params;
  const { item, payer } = fieldsOf(request);
  const price = PRICES.get(item);
  if (!/^[\w-]{8,64}$/.test(id) || price === undefined || typeof payer !== "string") {
    response
      .status(400)
      .json({ error: "expected an id, { item: lamp, piano or poster, payer: an address }" });
    return;
  }
  await orders.open({ id, item: String(item), ...price, payer });
  response.json(await orders.find(id));
});

app.get("/orders/:id", async (request, response) => {
  const found = await orders.find(request.params.id);
  response.status(found === null ? 404 : 200).json(found);
});

/** A transaction for the customer's wallet to sign. Its quote is kept with the order, and never comes from the page. */
app.post("/orders/:id/quote", async (request, response) => {
  const found = await orders.find(request.params.id);
  if (found?.state !== "open") {
    response.status(409).json({ error: "the order waits for no payment" });
    return;
  }
  const { quoteId, transaction } = await quote(client, found.payer, paymentFor(found));
  await orders.tell(found.id, { type: "QUOTED", quoteId });
  response.json({ transaction });
});

/** The signed transaction. The order's id is the idempotency key: a repeated request makes no second payment. */
app.post("/orders/:id/payment", async (request, response) => {
  const found = await orders.find(request.params.id);
  const { signedTransaction } = fieldsOf(request);
  const quoteId = found?.quoteId ?? null;
  if (found === null || quoteId === null || typeof signedTransaction !== "string") {
    response.status(400).json({ error: "expected an order with a quote, { signedTransaction }" });
    return;
  }
  await order(client, found.payer, { ...paymentFor(found), quoteId, signedTransaction });
  response.sendStatus(202);
});

/** For the staff: the goods came back, or a refund is to be tried again. */
app.post("/orders/:id/returned", async (request, response) => {
  if (request.headers.authorization !== `Bearer ${needed("STAFF_KEY")}`) response.sendStatus(401);
  else response.sendStatus((await orders.tell(request.params.id, { type: "RETURNED" })) ? 202 : 409);
});

/** Gives the practice wallet of the page its key. Leave both out where customers bring wallets of their own. */
app.get("/practice-key", (_request, response) => {
  const secretKey = bs58.decode(process.env["PRACTICE_SECRET_KEY"] ?? "");
  response.json({ address: bs58.encode(secretKey.subarray(32)), secretKey: [...secretKey] });
});

// Express tells this from other handlers by its four parameters.
app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
  if (error instanceof WebhookRefused) response.sendStatus(400);
  else if (isApiError(error)) response.status(error.status).json({ error: error.message });
  else {
    console.error(error);
    response.status(500).json({ error: "the shop could not do this" });
  }
});

await orders.catchUp();
const port = Number(process.env["PORT"] ?? 3000);
const server = app.listen(port, "127.0.0.1", () => console.log(`the shop is open: http://127.0.0.1:${port}`));

async function stop(): Promise<void> {
  server.close();
  server.closeAllConnections();
  await orders.stop(); // the next start does what is left
  await storage.close();
}
process.once("SIGTERM", () => void stop());
