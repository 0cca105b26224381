/** H32: a receiver without TLS, on this machine's loopback address alone, and only where the host says so. */
// modules: webhooks
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test as base } from "vitest";
import {
  createDeliveryClient,
  type DeliveryOptions,
} from "../../../src/payments/webhooks/sending/attempt.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";

/** An app on this machine, as a host writes one for a try. */
class LoopbackApp {
  readonly bodies: string[] = [];
  readonly server: Server = createServer((request, response) => {
    void this.#take(request).then(() => response.end());
  });
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook`;
  }
  async #take(request: IncomingMessage): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.bodies.push(Buffer.concat(chunks).toString());
  }
}

const test = base.extend("app", async ({}, { onCleanup }) => {
  const app = new LoopbackApp();
  await once(app.server.listen(0, "127.0.0.1"), "listening");
  onCleanup(() => {
    app.server.closeAllConnections();
    app.server.close();
  });
  return app;
});

const attempt = async (url: string, options: Partial<DeliveryOptions>) => {
  const delivery = createDeliveryClient({ clock: virtualClock(), ...options });
  const result = await delivery.attempt({ url, body: '{"event":"one"}', headers: {} });
  await delivery.endIdle();
  return result;
};

test("with the option the body arrives, also beside a proxy, which hears nothing of it", async ({ app }) => {
  const proxy = new URL("http://127.0.0.1:9");
  expect(await attempt(app.url, { allowLoopbackHttp: true, proxy })).toMatchObject({
    ok: true,
    httpStatus: 200,
  });
  expect(app.bodies).toEqual(['{"event":"one"}']);
});

test("without the option nothing is sent, also where the address itself is allowed", async ({ app }) => {
  expect(await attempt(app.url, { allowAddress: () => true })).toMatchObject({
    ok: false,
    error: "blocked_address",
  });
  expect(app.bodies).toEqual([]);
});
