/** A webhook that does not take its deliveries: it needs attention from the first failed attempt on. */
// modules: webhooks
import { expect } from "vitest";
import { createHttpHandler } from "../../src/index.ts";
import { answerWith } from "../kit/https-receiver.ts";
import { webhookTest as test } from "../payments/webhooks/webhook-test.ts";
import { viewerOf } from "./viewer.ts";

const MINUTE = 60_000;

test("a delivery that is tried again stands among what needs attention, and no more once it was taken", async ({
  world,
}) => {
  const { fixture, receiver, register } = world;
  const { service, clock } = fixture;
  const { text } = viewerOf(createHttpHandler({ service, clock, inspector: true }));
  const attention = () => text("?attention=1");
  await register({ events: ["transaction.pending"] });
  receiver.answer(answerWith(500));
  await world.sendOne();
  expect(await attention()).toContain("Nothing needs attention.");
  await fixture.pass(1_000);
  expect(await attention()).toContain("its webhook did not take it in one attempt; it is tried again");
  receiver.answer(answerWith(200));
  await fixture.pass(2 * MINUTE);
  expect(world.posts().length).toBe(2);
  expect(await attention()).toContain("Nothing needs attention.");
});
