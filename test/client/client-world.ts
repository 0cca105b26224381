/** A client of a real service on a local chain, in process or over HTTP. */
import { createClient, type ClientOptions, type PaymentClient } from "paystate/client";
import { createHttpHandler, type HttpHandler } from "../../src/http/create-http-handler.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { listening } from "../http/ways.ts";
import { serviceFixture, type ServiceFixture } from "../kit/service-fixture.ts";

/** What a test of the client works with. */
export interface ClientWorld extends ServiceFixture {
  readonly client: PaymentClient;
  readonly handler: HttpHandler;
  /** Another client of the same account. */
  clientWith(options: Partial<ClientOptions>): PaymentClient;
  /** Posts a send of 1 USDC that was quoted and signed; returns its id. */
  pay(): Promise<string>;
  /** Lets the chain finalize everything until `ending` has ended. */
  finalizing<T>(ending: Promise<T>): Promise<T>;
}

/** How a world is made. */
export interface ClientWorldOptions {
  /** Through a listening server; otherwise through `handler.fetch`. */
  readonly overHttp?: boolean;
  readonly broadcastDelayMs?: number;
}

const PLENTY = { free: 100_000, pro: 100_000, enterprise: 100_000 };

/** Makes the world. The client has the machine's own clock, the service that of the fixture. */
export async function clientWorld(options: ClientWorldOptions = {}): Promise<ClientWorld> {
  const { overHttp = false, broadcastDelayMs = 0 } = options;
  const fixture = await serviceFixture({ broadcastDelayMs });
  const { service, clock } = fixture;
  const handler = createHttpHandler({ service, clock, logger: silentLogger, limits: { reads: PLENTY } });
  const { accountId } = await fixture.caller("enterprise");
  const { key: apiKey } = await service.issueKey({ accountId, environment: "test" });
  const server = overHttp ? await listening(handler.node) : null;
  const way: ClientOptions =
    server === null
      ? { apiKey, baseUrl: "http://pay.example", fetch: handler.fetch }
      : { apiKey, baseUrl: server.origin };
  const client = createClient(way);
  const sender = fixture.wallet("payer", { lamports: 10_000_000_000n, usdc: 1_000_000_000n });
  const recipient = fixture.wallet("payee");
  return {
    ...fixture,
    client,
    handler,
    clientWith: (more) => createClient({ ...way, ...more }),
    async pay() {
      // A new blockhash: the same payment twice under one would be the same bytes.
      fixture.chain.advance(2);
      clock.advance(1_000);
      const recipients = [{ address: recipient.address, amount: "1" }];
      const quote = await client.createQuote({
        inputAsset: "USDC",
        outputAsset: "USDC",
        amount: "1",
        sender: sender.address,
        recipients,
      });
      const { transactionId } = await client.createTransaction({
        type: "send",
        quoteId: quote.quoteId,
        sender: sender.address,
        recipients,
        signedTransaction: fixture.sign(quote.transaction ?? "", sender),
      });
      return transactionId;
    },
    async finalizing(ending) {
      let isOver = false;
      const ended = ending.finally(() => (isOver = true));
      while (!isOver) {
        fixture.chain.advance(2);
        clock.advance(500);
        await new Promise((resolve) => setImmediate(resolve));
      }
      return ended;
    },
    async close() {
      await server?.close();
      await fixture.close();
    },
  };
}
