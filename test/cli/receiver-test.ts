/** Tests of notices that come to a developer's own program: a receiver over plain HTTP on loopback. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "vitest";

/** What came. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A program that listens. */
interface Receiver {
  readonly port: number;
  readonly url: URL;
  /** Everything that came, in order of arrival. */
  readonly received: readonly Received[];
  /** How it answers from now on. */
  answer(listener: RequestListener): void;
  /** Ends all connections and stops listening. */
  close(): Promise<void>;
}

/** `receiver` answers 200 until it is told otherwise. */
export const receiverTest = test.extend("receiver", async ({}, { onCleanup }): Promise<Receiver> => {
  const received: Received[] = [];
  let answer: RequestListener = (_, response) => void response.end();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      received.push({ path: request.url ?? "", headers: request.headers, body });
      answer(request, response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  onCleanup(close);
  const { port } = server.address() as AddressInfo;
  const url = new URL(`http://127.0.0.1:${port}/hook?from=listen`);
  return { port, url, received, answer: (listener) => void (answer = listener), close };
});
