/** An Express app with the payment API at /v1, over a chain for development. */
import express, { type Express } from "express";
import {
  createHttpHandler,
  createPaymentService,
  type PaymentService,
  type PaymentServiceOptions,
} from "paystate";
import type { Clock } from "paystate/engine";
import type { LocalChain } from "paystate/local";
import { solanaLedger } from "paystate/solana";
import { shop, type ShopOptions } from "./shop.ts";

/** The storage, chain and clock below the app, and the shop in it. */
export interface AppOptions extends Pick<PaymentServiceOptions, "storage"> {
  readonly chain: LocalChain;
  readonly clock: Clock;
  /** 32 bytes, kept as long as the database. */
  readonly secret: Uint8Array;
  readonly shop: ShopOptions;
}

/** Starts the service: payments that were under way go on. `close` leaves chain and storage open. */
export async function createApp({ chain, clock, secret, storage, shop: options }: AppOptions): Promise<{
  readonly app: Express;
  readonly service: PaymentService;
  readonly close: () => Promise<void>;
}> {
  // For devnet or mainnet: your endpoints here, and neither `chain` nor `stablecoins`.
  const ledger = solanaLedger({ clock, endpoints: [{ url: "http://chain.invalid", fetch: chain.fetch }] });
  const service = createPaymentService({
    storage,
    ledger,
    clock,
    stablecoins: chain.mints,
    masterSecrets: [{ version: 1, secret }],
    leaseMs: 2_000, // after a kill, the next start waits for the lease of the killed process
    webhooks: { allowLoopbackHttp: true }, // to /hook of this app; a public receiver has an https: URL
  });
  await service.start();
  const app = express();
  app.use(shop(options)); // your own routes
  app.use(createHttpHandler({ service }).node);
  return {
    app,
    service,
    async close() {
      await service.stop(); // the next start does what is left
      await ledger.close();
    },
  };
}
