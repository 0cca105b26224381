/** The walks whose length `npm run way` tells: payments and a delivery over one SQLite file, and the engine alone. */
// modules: private, webhooks
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setup } from "xstate";
import { createEngine, workflow } from "../../src/engine/index.ts";
import { createHttpHandler } from "../../src/http/create-http-handler.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { CreatedTransferBody } from "../../src/payments/frame/signed/accept-signed.ts";
import type { CreatedOrderBody } from "../../src/payments/private/accept-order.ts";
import type { Caller } from "../../src/payments/frame/accounts/caller.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import type { QuoteBody } from "../../src/payments/frame/quotes/quote-body.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { startHttpsReceiver } from "../kit/https-receiver.ts";
import type { Wallet } from "../kit/chain-fixture.ts";
import { privateFixture, type PrivateFixture } from "../kit/private-fixture.ts";
import { sqliteStorage } from "../kit/storages.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import type { FunctionCount } from "./function-count.ts";

/** Makes a world and counts the walk in it: as `FunctionCount.end` tells it. */
type Walk = (count: FunctionCount) => Promise<readonly string[]>;

/** A service with private mode on, and a customer with a key. */
interface WalkWorld extends PrivateFixture {
  readonly customer: Caller;
  /** Posts a body; its answer has to be a 201. */
  post<Body>(path: string, body: object): Promise<Body>;
  /** Throws for a status of the customer's transaction that is not `completed`. */
  expectCompleted(transactionId: string): Promise<void>;
}

/** Every walk by its name. */
export const WALKS = { send, private: privateSend, delivery, event } satisfies Readonly<Record<string, Walk>>;

/** A wallet's send of one USDC, from its quote until it is final. */
function send(count: FunctionCount): Promise<readonly string[]> {
  return inService(async (world) => {
    const people = customers(world);
    await count.begin();
    const transactionId = await sendOne(world, people);
    await world.finalize();
    await world.expectCompleted(transactionId);
    return count.end();
  });
}

/** A private send of one, from its quote until it is paid. */
function privateSend(count: FunctionCount): Promise<readonly string[]> {
  return inService(async (world) => {
    const { post, deposit, settle, expectCompleted } = world;
    const { from, to } = customers(world);
    const recipients = [{ address: to, amount: "5" }];
    await count.begin();
    const asked = { inputAsset: "USDC", outputAsset: "USDC", amount: "5", mode: "private", recipients };
    const { quoteId, inputAmount } = await post<QuoteBody>("/v1/quotes", asked);
    const order = { type: "send", mode: "private", quoteId, sender: from.address, recipients };
    const { transactionId, ephemeralAddress } = await post<CreatedOrderBody>("/v1/transactions", order);
    await deposit(ephemeralAddress, { usdc: BigInt(Math.round(Number(inputAmount) * 1_000_000)) });
    await settle();
    await expectCompleted(transactionId);
    return count.end();
  });
}

/** One notice: from the landing of a send, whose commit announces it, until the receiver has it and that is stored. */
async function delivery(count: FunctionCount): Promise<readonly string[]> {
  const [earlier, receiver] = [await startHttpsReceiver(), await startHttpsReceiver()];
  const countFrom = ({ ledger }: Pick<PrivateFixture, "ledger">): Ledger => ({
    ...ledger,
    async landings(attempts) {
      const landings = await ledger.landings(attempts);
      if (landings.some((landing) => landing !== null)) await count.begin();
      return landings;
    },
  });
  const notify = async (world: WalkWorld): Promise<readonly string[]> => {
    const { service, customer, finalize } = world;
    // The first delivery of a service makes the tables of the engine's limits, and is not the one that is counted.
    await service.registerWebhook(customer, { url: earlier.url, events: ["transaction.pending"] });
    const hook = { url: receiver.url, events: ["transaction.completed"] };
    const { webhookId } = (await service.registerWebhook(customer, hook)).body;
    await sendOne(world, customers(world));
    await finalize();
    const ran = await count.end();
    const { data } = await service.deliveries(customer, webhookId, {});
    if (data[0]?.status !== "delivered") throw new Error("the notice was not delivered");
    return ran;
  };
  try {
    const allowAddress = (ip: string): boolean => ip === "127.0.0.1";
    return await inService(notify, { webhooks: { ca: receiver.ca, allowAddress } }, countFrom);
  } finally {
    await receiver.close();
    await earlier.close();
  }
}

/** An event to a stored instance of a chart, until the effect that its step asks for is done. */
function event(count: FunctionCount): Promise<readonly string[]> {
  return withStorage(async (storage) => {
    let isShipped = false;
    const ship = async (): Promise<undefined> => void (isShipped = true);
    const orders = workflow(orderChart)({ version: 1, effects: { ship } });
    const clock = virtualClock();
    const engine = createEngine({ storage, workflows: [orders], clock, logger: silentLogger });
    engine.run();
    try {
      await engine.start(orders, { id: "order", input: undefined });
      await engine.settled();
      await count.begin();
      await engine.send(orders, "order", { type: "PAY" });
      await engine.settled();
      const ran = await count.end();
      if (!isShipped) throw new Error("the effect was not done");
      return ran;
    } finally {
      await engine.stop();
    }
  });
}

const orderChart = setup({
  types: { events: {} as { readonly type: "PAY" } },
  actions: { ship: () => {} },
}).createMachine({
  id: "order",
  initial: "placed",
  states: { placed: { on: { PAY: "paid" } }, paid: { entry: "ship" } },
});

/** Who pays, and the address that is paid. */
interface Customers {
  readonly from: Wallet;
  readonly to: string;
}

function customers({ wallet }: WalkWorld): Customers {
  const from = wallet("alice", { lamports: 1_000_000_000n, usdc: 10_000_000n });
  return { from, to: wallet("bob").address };
}

/** Quotes, signs and posts a send of one USDC; answers its transaction. */
async function sendOne({ post, sign }: WalkWorld, { from, to }: Customers): Promise<string> {
  const recipients = [{ address: to, amount: "1" }];
  const asked = { inputAsset: "USDC", outputAsset: "USDC", amount: "1", sender: from.address, recipients };
  const { quoteId, transaction = "" } = await post<QuoteBody>("/v1/quotes", asked);
  const signedTransaction = sign(transaction, from);
  const order = { type: "send", quoteId, sender: from.address, recipients, signedTransaction };
  return (await post<CreatedTransferBody>("/v1/transactions", order)).transactionId;
}

/** Runs a walk in a world over a new service. */
function inService<T>(
  walk: (world: WalkWorld) => Promise<T>,
  options: Parameters<typeof privateFixture>[0] = {},
  ledgerOn?: Parameters<typeof privateFixture>[2],
): Promise<T> {
  return withStorage(async (storage) => {
    const fixture = await privateFixture({ storage, ...options }, {}, ledgerOn);
    try {
      return await walk(await worldOn(fixture));
    } finally {
      await fixture.close();
    }
  });
}

async function withStorage<T>(walk: (storage: PaymentStorage) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "paystate-way-"));
  const storage = await sqliteStorage(join(folder, "way.db"));
  try {
    return await walk(storage);
  } finally {
    await storage.close();
    rmSync(folder, { recursive: true });
  }
}

async function worldOn(fixture: PrivateFixture): Promise<WalkWorld> {
  const { service, clock } = fixture;
  const handler = createHttpHandler({ service, clock });
  const customer = await fixture.caller();
  const { key } = await service.issueKey({ accountId: customer.accountId, environment: "test" });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return {
    ...fixture,
    customer,
    async post<Body>(path: string, body: object): Promise<Body> {
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      const response = await handler.fetch(new Request(`http://localhost${path}`, init));
      if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as Body;
    },
    async expectCompleted(transactionId) {
      const { status } = await service.transaction(customer, transactionId);
      if (status !== "completed") throw new Error(`${transactionId} is ${status}`);
    },
  };
}
