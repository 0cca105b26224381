/** A webhook receiver over HTTPS that verifies every signature. */
import { createServer } from "node:https";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createCA, createCert } from "mkcert";
import { verifyServiceSignature } from "paystate";

/** One delivery as it arrived. */
export interface ReceivedEvent {
  readonly event: string;
  readonly transactionId: string;
  readonly verified: boolean;
}

/** A running receiver. */
export interface Receiver {
  readonly url: string;
  /** In PEM; whoever trusts it can deliver here. */
  readonly certificateAuthority: string;
  /** Deliveries for a transaction, in the order in which they came. */
  eventsOf(transactionId: string): readonly ReceivedEvent[];
  /** Resolves when the transaction's `transaction.completed` has come. */
  completed(transactionId: string): Promise<void>;
  readonly close: () => Promise<void>;
}

/** Starts a receiver on any free port of the loopback address. */
export async function startReceiver(secret: string): Promise<Receiver> {
  const authority = await createCA({
    organization: "paystate demo",
    countryCode: "NL",
    state: "",
    locality: "",
    validity: 1,
  });
  const { cert, key } = await createCert({
    ca: authority,
    domains: ["localhost", "127.0.0.1"],
    validity: 1,
  });
  const received: ReceivedEvent[] = [];
  const waiting = new Set<() => void>();

  const server = createServer({ cert, key }, (request, response) => {
    void readBody(request).then((body) => {
      if (request.method === "POST") {
        const { event, transactionId } = JSON.parse(body) as { event: string; transactionId: string };
        const signature = request.headers["x-service-signature"];
        const verified = verifyServiceSignature(body, String(signature), secret);
        received.push({ event, transactionId, verified });
        for (const look of waiting) look();
      }
      response.writeHead(200).end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });

  const eventsOf = (wanted: string): ReceivedEvent[] =>
    received.filter(({ transactionId }) => transactionId === wanted);
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    certificateAuthority: authority.cert,
    eventsOf,
    completed: (transactionId) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!eventsOf(transactionId).some(({ event }) => event === "transaction.completed")) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
