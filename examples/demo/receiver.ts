/** A webhook receiver over HTTPS that verifies every signature. */
import { createServer } from "node:https";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createCA, createCert } from "mkcert";
import { verifyServiceSignature } from "paystate";
import type { Notice } from "paystate/webhook";

/** One delivery as it arrived. */
export interface ReceivedNotice extends Pick<Notice, "event" | "transactionId" | "data"> {
  readonly verified: boolean;
}

/** A running receiver. */
export interface Receiver {
  readonly url: string;
  /** In PEM; a sender that trusts it can deliver here. */
  readonly certificateAuthority: string;
  /** Deliveries for a transaction, in the order in which they came. */
  noticesOf(transactionId: string): readonly ReceivedNotice[];
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
  const received: ReceivedNotice[] = [];

  const server = createServer({ cert, key }, (request, response) => {
    void readBody(request).then((body) => {
      if (request.method === "POST") {
        const notice = JSON.parse(body) as Notice;
        const signature = request.headers["x-service-signature"];
        received.push({ ...notice, verified: verifyServiceSignature(body, String(signature), secret) });
      }
      response.writeHead(200).end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });

  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    certificateAuthority: authority.cert,
    noticesOf: (wanted) => received.filter(({ transactionId }) => transactionId === wanted),
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
