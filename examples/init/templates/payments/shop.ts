/** The shop: an order is shipped once, when its payment is final, in the right asset, of the right amount. */
// oxlint-disable oxc/no-async-endpoint-handlers -- Express 5 hands a rejection to the last handler
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import express, { Router } from "express";
import { verifyWebhook, WebhookRefused } from "paystate/webhook";

/** The shop's own price. It never comes from the payer. */
export const PRICE = { asset: "SOL", amount: "1.5" };

/** The shop's address on the chain, the secret of its webhook, and the folder of shipped orders. */
export interface ShopOptions {
  readonly address: string;
  readonly secret: string;
  readonly folder: string;
}

/** The facts of a notice that decide. */
export interface Payment {
  readonly event: string;
  readonly data: {
    readonly outputAsset: string;
    readonly recipients: readonly { readonly address: string; readonly amount: string }[];
  };
}

/** True if the shop has its money: the payment is final, and pays this asset and amount to this address. */
export function isPaid({ event, data }: Payment, address: string): boolean {
  return (
    event === "transaction.completed" &&
    data.outputAsset === PRICE.asset &&
    data.recipients.some((each) => each.address === address && each.amount === PRICE.amount)
  );
}

/** Receives notices at /hook, and tells at /orders/NUMBER whether an order is shipped. */
export function shop({ address, secret, folder }: ShopOptions): Router {
  mkdirSync(folder, { recursive: true });
  const fileOf = (order: string): string => join(folder, `${encodeURIComponent(order)}.json`);
  const routes = Router();
  // The signature covers the raw bytes, so no parser of JSON may stand before this route.
  routes.post("/hook", express.raw({ type: () => true }), async (request, response) => {
    const notice = await verifyWebhook(request.body as Buffer, request.headers, secret);
    const order = notice.data.reference;
    // A notice may come twice: the file says that the order is shipped.
    if (order !== null && isPaid(notice, address) && !existsSync(fileOf(order))) {
      writeFileSync(fileOf(order), JSON.stringify(notice.data));
      console.log(`${order} is paid: ship it`);
    }
    response.sendStatus(200); // any other answer, or none, and the notice comes again
  });
  routes.get("/orders/:order", (request, response) => {
    response.json({ shipped: existsSync(fileOf(request.params.order)) });
  });
  routes.use(
    (error: unknown, _request: express.Request, response: express.Response, next: express.NextFunction) => {
      if (error instanceof WebhookRefused) response.status(400).json({ error: error.code });
      else next(error);
    },
  );
  return routes;
}
