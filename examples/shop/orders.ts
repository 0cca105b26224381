/** The shop's orders, and what they are told of their payments: by webhooks, and at the start by asking. */
import { fromPromise } from "xstate";
import { createEngine, workflow } from "paystate/engine";
import type { EngineStorage } from "paystate/storage";
import type { PaymentClient } from "paystate/client";
import type { WebhookNotice } from "paystate/webhook";
import { order, paymentOf, refundOf, type Order, type OrderEvent, type OrderInput } from "./order.ts";
import type { Payment, ShopWallet } from "./payments.ts";

interface OrdersParts {
  readonly storage: EngineStorage;
  readonly client: PaymentClient;
  readonly wallet: ShopWallet;
}

/** A name is no price: 0.1 USDC under the name of an order for 0.1 SOL pays nothing of it. */
function isAskedFor({ asset, price }: Order, { outputAsset, outputAmount }: WebhookNotice["data"]): boolean {
  return outputAsset === asset && outputAmount === price;
}

export class Orders {
  readonly #client: PaymentClient;
  readonly #orders;
  readonly #engine;

  constructor({ storage, client, wallet }: OrdersParts) {
    this.#client = client;
    const payBack = fromPromise<void, Payment>(({ input }) => wallet.pay(client, input));
    this.#orders = workflow(order.provide({ actors: { payBack } }))({
      version: 1,
      actors: { payBack: { retry: { atMost: 5 } } },
    });
    this.#engine = createEngine({ storage, workflows: [this.#orders] });
    this.#engine.run();
  }

  /** Does nothing where there is an order of this id. */
  async open(input: OrderInput): Promise<void> {
    await this.#engine.start(this.#orders, { id: input.id, input });
  }

  async find(id: string): Promise<(Order & { readonly state: string }) | null> {
    const found = await this.#engine.read(this.#orders, id);
    if (found === null) return null;
    return { ...found.context, state: found.value };
  }

  /** Whether the order takes the event in its present state. It is committed by then. */
  async tell(id: string, event: OrderEvent): Promise<boolean> {
    const { kind } = await this.#engine.send(this.#orders, id, event);
    if (kind === "refused") throw new Error(`${id} could not be told ${event.type}`);
    return kind === "stepped";
  }

  /** Tells the order what became of its payment. A second time, and out of order, this changes nothing. */
  async hear({ event, data }: Pick<WebhookNotice, "event" | "data">): Promise<void> {
    const reference = data.reference ?? "";
    const [id = ""] = reference.split("/");
    const found = await this.find(id);
    if (found === null || !isAskedFor(found, data)) {
      if (event === "transaction.completed") {
        console.error(`${data.transactionId} is not what order ${id} asks for: a person looks at it`);
      }
      return;
    }
    const isPayment = reference === paymentOf({ id });
    if (event === "transaction.completed") await this.tell(id, { type: isPayment ? "PAID" : "REFUNDED" });
    if (event === "transaction.failed") {
      await this.tell(id, isPayment ? { type: "NOT_PAID" } : { type: "NOT_REFUNDED", reference });
    }
  }

  /** Asks for what webhooks may have said while the shop was away. */
  async catchUp(): Promise<void> {
    let after: string | undefined;
    do {
      const page = await this.#engine.list({ status: "active", ...(after !== undefined && { after }) });
      for (const { id } of page.instances) await this.#askFor(id);
      after = page.next ?? undefined;
    } while (after !== undefined);
  }

  async #askFor(id: string): Promise<void> {
    const found = await this.find(id);
    if (found === null) return;
    const reference = found.state === "open" ? paymentOf(found) : refundOf(found);
    for await (const { transactionId } of this.#client.listTransactions({ reference })) {
      for await (const notice of this.#client.listTransactionEvents(transactionId)) await this.hear(notice);
    }
  }

  async stop(): Promise<void> {
    await this.#engine.stop();
  }
}
