/** A service with everything turned on, tenants who have one of everything, and the two ways into its handler. */
import { Agent, request as nodeRequest } from "node:http";
import { Keypair } from "@solana/web3.js";
import { requestAnswered } from "../../src/core/diagnostics.ts";
import * as example from "../../src/http/contract/examples.ts";
import {
  createHttpHandler,
  type HttpHandler,
  type HttpHandlerOptions,
} from "../../src/http/create-http-handler.ts";
import type { Caller } from "../../src/payments/frame/accounts/caller.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { SOL_MINT } from "../../src/core/address.ts";
import type { PriceSource } from "../../src/payments/frame/prices/prices.ts";
import type { Wallet } from "../kit/chain-fixture.ts";
import { startHttpsReceiver } from "../kit/https-receiver.ts";
import { MODES } from "../kit/modes.ts";
import { swapFixture, type SwapFixture } from "../kit/swap-fixture.ts";
import type { JudgedAnswer } from "./answer-judge.ts";
import type { Belongings, RawRequest } from "./mutations.ts";
import { listening } from "./ways.ts";

/** Somebody with a key and one of everything. */
export interface Tenant {
  readonly caller: Caller;
  readonly authorization: string;
  belongings(isPrivate: boolean): Belongings;
}

/** The service and the two ways into it. */
export interface ContractWorld {
  readonly payments: SwapFixture;
  /** Who pays in the document's examples. */
  readonly sender: Wallet;
  readonly recipient: Wallet;
  /** A new account with belongings of its own; enterprise unless said otherwise. */
  tenant(tier?: Caller["tier"]): Promise<Tenant>;
  /** A handler with other options. */
  handlerWith(options: Partial<HttpHandlerOptions>): HttpHandler;
  /** In process, by another handler where one is given; null for what no Request can be made of. */
  ask(request: RawRequest, handler?: HttpHandler): Promise<JudgedAnswer | null>;
  /** Sets what a SOL is worth, in dollars, for all prices but those of quotes that were made. */
  setPriceOfSol(dollars: bigint): void;
  /** Through a socket, where more can be written than a Request allows. Null for what Node itself does not send or take. */
  askSocket(request: RawRequest): Promise<JudgedAnswer | null>;
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** Whom the host's screening refuses. */
export const UNSERVED = Keypair.fromSeed(new Uint8Array(32).fill(3)).publicKey.toBase58();

const PLENTY = { free: 1_000_000, pro: 1_000_000, enterprise: 1_000_000 };
const NO_LIMITS = {
  reads: PLENTY,
  quotes: PLENTY,
  quoteParties: PLENTY,
  creates: PLENTY,
  webhookTests: PLENTY, // modules: webhooks
  failedAuthentications: 1_000_000,
  documents: 1_000_000,
};

export async function contractWorld(): Promise<ContractWorld> {
  const receiver = await startHttpsReceiver();
  const market = { solInDollars: 150n };
  const world = await swapFixture({
    routing: {
      prices: pricesOf(market),
      screen: async (address: string) => (address === UNSERVED ? "refused" : "ok"),
    },
    options: receiver.options,
  });
  const { service, clock, chain } = world;
  const handlerWith: ContractWorld["handlerWith"] = (options) =>
    createHttpHandler({ service, clock, logger: silentLogger, limits: NO_LIMITS, ...options });
  const handler = handlerWith({});
  const server = await listening(handler.node);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let answered = { method: "", route: "" };
  const deaf = requestAnswered.subscribe((told) => (answered = told));
  const sender = world.wallet("sender", { lamports: 100_000_000_000n, usdc: 100_000_000_000n });
  const recipient = world.wallet("recipient", { lamports: 1_000_000_000n, usdc: 1n });
  chain.advance(35);
  const recipients = [{ address: recipient.address, amount: "25" }];

  const tenant: ContractWorld["tenant"] = async (tier = "enterprise") => {
    clock.advance(1_000);
    chain.advance(2);
    const caller = await world.caller(tier);
    const { key } = await service.issueKey({ accountId: caller.accountId, environment: "test" });
    const events = ["transaction.pending", "transaction.completed"]; // modules: webhooks
    // modules: webhooks
    const { body: hook } = await service.registerWebhook(caller, { url: receiver.url, events });
    const sent = await world.send(caller, { from: sender, to: recipient.address, amount: "1" });
    await world.finalize();
    const [delivery] = (await service.deliveries(caller, hook.webhookId, {})).data; // modules: webhooks
    chain.advance(2);
    const asked = { inputAsset: "USDC", outputAsset: "USDC", amount: "25" };
    const { body: quote } = await service.createQuote(caller, {
      ...asked,
      sender: sender.address,
      recipients,
    });
    const named = new Map([
      [example.SENDER, sender.address],
      [example.RECIPIENT, recipient.address],
      [example.TRANSACTION_BASE64, world.sign(quote.transaction ?? "", sender)],
      ["https://shop.example/webhooks/payments", receiver.url],
      [example.QUOTE_ID, quote.quoteId],
      ["{quoteId}", quote.quoteId],
      // Final: a look that waits for another status would never end on a clock that stands still.
      ["{transactionId}", sent.transactionId],
      ["{webhookId}", hook.webhookId], // modules: webhooks
      ["{deliveryId}", delivery?.deliveryId ?? "dlv_0"], // modules: webhooks
      ["{address}", sender.address],
    ]);
    const inPrivate = new Map(named);
    for (const mode of MODES.filter((each) => each === "private")) {
      const { body: priced } = await service.createQuote(caller, { ...asked, mode });
      inPrivate.set(example.QUOTE_ID, priced.quoteId);
    }
    return {
      caller,
      authorization: `Bearer ${key}`,
      belongings: (isPrivate) => (isPrivate ? inPrivate : named),
    };
  };

  return {
    payments: world,
    sender,
    recipient,
    tenant,
    handlerWith,
    setPriceOfSol: (dollars) => void (market.solInDollars = dollars),
    settled: () => service.settled(),
    async ask({ method, target, headers, body }, { fetch } = handler) {
      const made = requestOf({ method, target, headers, body });
      if (made === null) return null;
      const response = await fetch(made);
      const { status } = response;
      return { ...answered, method, status, headers: response.headers, text: await response.text() };
    },
    askSocket: async ({ method, target, headers, body }) => {
      answered = { method: "", route: "" };
      const answer = await overSocket(server.origin, agent, { method, target, headers, body });
      // What Node's own parser refuses never comes to us.
      return answer === null || answered.route === "" ? null : { ...answer, ...answered, method };
    },
    async close() {
      deaf();
      agent.destroy();
      await server.close();
      await world.close();
      await receiver.close();
    },
  };
}

/** One SOL in dollars, and a dollar of either kind for a dollar of the other. */
function pricesOf(market: { readonly solInDollars: bigint }): PriceSource {
  const worthOf = (mint: string): { readonly units: bigint; readonly dollars: bigint } =>
    mint === SOL_MINT
      ? { units: 1_000_000_000n, dollars: market.solInDollars }
      : { units: 1_000_000n, dollars: 1n };
  return {
    rate: async (giveMint, getMint) => {
      const [give, get] = [worthOf(giveMint), worthOf(getMint)];
      return { give: give.units * get.dollars, get: get.units * give.dollars };
    },
  };
}

function requestOf({ method, target, headers, body }: RawRequest): Request | null {
  try {
    const all = new Headers();
    for (const [name, value] of headers) all.append(name, value);
    const carried = body === null || method === "GET" || method === "HEAD" ? {} : { body };
    return new Request(`http://pay.example${target.startsWith("/") ? target : `/${target}`}`, {
      method,
      headers: all,
      ...carried,
    });
  } catch {
    return null;
  }
}

function overSocket(
  origin: string,
  agent: Agent,
  { method, target, headers, body }: RawRequest,
): Promise<Omit<JudgedAnswer, "route" | "method"> | null> {
  return new Promise((resolve) => {
    try {
      const length = body === null ? [] : (["content-length", String(Buffer.byteLength(body))] as const);
      const raw = [...headers.flat(), ...length, "host", "pay.example"];
      const { hostname, port } = new URL(origin);
      const outgoing = nodeRequest(
        { hostname, port, agent, method, path: target, headers: raw },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => {
            const told = new Headers();
            for (const [name, value] of Object.entries(response.headers)) told.set(name, String(value));
            const text = Buffer.concat(chunks).toString();
            resolve({ status: response.statusCode ?? 0, headers: told, text });
          });
        },
      );
      outgoing.on("error", () => resolve(null));
      outgoing.end(body ?? undefined);
    } catch {
      resolve(null);
    }
  });
}
