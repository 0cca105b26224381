/** A test notice is sent from a webhook's page: asked before, in the audit log, the receiver's answer shown. */
// modules: webhooks
import { expect } from "vitest";
import { createHttpHandler } from "../../src/index.ts";
import { answerWith } from "../kit/https-receiver.ts";
import { webhookTest as test } from "../payments/webhooks/webhook-test.ts";
import type { WebhookWorld } from "../payments/webhooks/webhook-world.ts";
import { inWords, viewerOf } from "./viewer.ts";

const inspect = ({ fixture: { service, clock } }: WebhookWorld, acts: boolean) => {
  const { text, act } = viewerOf(createHttpHandler({ service, clock, inspector: { acts } }));
  const send = async (id: string, event: string): Promise<string> => {
    const answer = await act({ id, do: "test", reason: "a try", event });
    return `${answer.status} ${inWords(await answer.text())}`;
  };
  return { text, send };
};

test("the page before says where the sample goes, and nothing is sent by looking at it", async ({
  world,
}) => {
  const id = await world.register({ events: ["transaction.failed"] });
  const { text } = inspect(world, true);
  expect(await text(`/webhook?id=${id}`)).toContain("Send a test …");
  const asked = await text(`/act?id=${id}&do=test`);
  expect(asked).toContain(
    `One sample notice of the chosen event is sent to ${new URL(world.receiver.url).origin}`,
  );
  expect(asked).toContain("transaction.failed");
  expect(asked).not.toContain("transaction.pending");
  expect(world.posts()).toEqual([]);
});

test("one sample is sent, its answer is shown, and who did it and why stands in the audit log", async ({
  world,
}) => {
  const id = await world.register({ events: ["transaction.failed"] });
  const { send, text } = inspect(world, true);
  world.receiver.answer(answerWith(200));
  expect(await send(id, "transaction.failed")).toMatch(
    /^200 .*The receiver answered 200 after \d+ ms: the test was taken\./,
  );
  world.receiver.answer(answerWith(503));
  expect(await send(id, "transaction.failed")).toContain("the test was not taken (http_status).");
  expect(world.eventsReceived()).toEqual(["transaction.failed", "transaction.failed"]);
  const what = { webhookId: id, event: "transaction.failed" };
  const entry = { actor: "ada", reason: "a try", act: "test_webhook", what };
  expect(await world.fixture.service.operator.auditLog()).toMatchObject([entry, entry]);
  expect(await text(`/webhook?id=${id}`)).toContain("Nothing has been delivered to it yet.");
});

test("an event that the webhook does not take, a deleted webhook and a viewer who only looks send nothing", async ({
  world,
}) => {
  const id = await world.register({ events: ["transaction.failed"] });
  const { send } = inspect(world, true);
  expect(await send(id, "transaction.pending")).toMatch(/^409 .*Expected one of the events of this webhook/);
  expect(await send(id, "")).toMatch(/^409 /);
  const looking = inspect(world, false);
  expect(await looking.send(id, "transaction.failed")).toMatch(/^403 /);
  expect(await looking.text(`/webhook?id=${id}`)).not.toContain("Send a test");
  await world.fixture.service.deleteWebhook(world.caller, id);
  expect(await send(id, "transaction.failed")).toMatch(/^409 /);
  expect(world.posts()).toEqual([]);
  expect(await world.fixture.service.operator.auditLog()).toEqual([]);
});
