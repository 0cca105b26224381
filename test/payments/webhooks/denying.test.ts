/** The host's own list of where webhooks never go, at every door of the service. */
// modules: webhooks
import { expect } from "vitest";
import { expectRefusal } from "../wallet/wallet-world.ts";
import { webhookTest as test } from "./webhook-test.ts";
import type { WebhookWorld } from "./webhook-world.ts";

const opened = ({ receiver: { ca } }: WebhookWorld) => ({
  ca,
  allowAddress: (ip: string) => ip === "127.0.0.1",
});

test("H10: a denied receiver is refused at registration and update, and one registered before gets nothing more", async ({
  world,
}) => {
  const { fixture, caller, receiver } = world;
  const webhookId = await world.register();
  await fixture.service.stop();
  const strict = fixture.another({
    webhooks: { ...opened(world), deny: { addresses: ["127.0.0.0/8"], hosts: ["example.com"] } },
  });
  await strict.start();
  const before = receiver.connections();
  const register = (url: string) => strict.registerWebhook(caller, { url, events: ["transaction.pending"] });
  await expectRefusal(register(receiver.url), "INVALID_URL", { reason: "private_address" });
  await expectRefusal(register("https://hooks.example.com/"), "INVALID_URL", { reason: "bad_host" });
  const update = strict.updateWebhook(caller, webhookId, { url: `${receiver.url}/other` });
  await expectRefusal(update, "INVALID_URL", { reason: "private_address" });
  // A tenant is told that the name could not be resolved, and learns nothing of the operator's network.
  const tested = await strict.testWebhook(caller, webhookId, { event: "transaction.pending" });
  expect(tested.body).toMatchObject({ delivered: false, error: "dns" });
  await world.sendOne();
  await strict.settled();
  const [delivery] = (await strict.deliveries(caller, webhookId)).data;
  expect(delivery).toMatchObject({ status: "pending", attempts: [{ error: "dns", httpStatus: null }] });
  expect(receiver.connections()).toBe(before);
  expect(world.posts()).toEqual([]);
  await strict.stop();
});

test.for([
  [
    { addresses: ["10.0.0.0/8", "10.0.0.0/40"] },
    "webhooks.deny.addresses.1: expected an address or a network",
  ],
  [{ hosts: ["https://example.com"] }, "webhooks.deny.hosts.0: expected the name of a host"],
  [{ names: [] }, "webhooks.deny: "],
] as const)("%j as deny is refused by name", ([deny, sentence], { world }) => {
  const webhooks = { ...opened(world), deny: deny as object };
  expect(() => world.fixture.another({ webhooks })).toThrow(sentence);
});
