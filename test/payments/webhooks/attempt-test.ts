/** Tests of single attempts at a delivery: a receiver that the tests of a file share, and for each test a clock. */
// modules: webhooks
import { test } from "vitest";
import {
  type AttemptResult,
  createDeliveryClient,
  type DeliveryOptions,
} from "../../../src/payments/webhooks/sending/attempt.ts";
import { startHttpsReceiver } from "../../kit/https-receiver.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";

/** `attempt` sends to the receiver unless another URL is given, and keeps no connection after that. */
export const attemptTest = test
  .extend("receiver", { scope: "file" }, async ({}, { onCleanup }) => {
    const receiver = await startHttpsReceiver();
    onCleanup(() => receiver.close());
    return receiver;
  })
  .extend("clock", ({}) => virtualClock())
  .extend("attempt", ({ receiver, clock }) => {
    const loopback = { clock, allowAddress: (ip: string) => ip === "127.0.0.1", ca: receiver.ca };
    return async (url = receiver.url, options: Partial<DeliveryOptions> = {}): Promise<AttemptResult> => {
      const delivery = createDeliveryClient({ ...loopback, ...options });
      const result = await delivery.attempt({ url, body: "{}", headers: {} });
      await delivery.endIdle();
      return result;
    };
  });
