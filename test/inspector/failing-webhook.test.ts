/** A webhook that does not take its deliveries: it needs attention from the first failed attempt on. */
import { expect } from "vitest";
import { createHttpHandler } from "../../src/index.ts";
import { answerWith } from "../kit/https-receiver.ts";
import { webhookTest as test } from "../payments/webhooks/webhook-test.ts";

const MINUTE = 60_000;

test("a delivery that is tried again stands among what needs attention, and no more once it was taken", async ({
  world,
}) => {
  const { fixture, receiver, register } = world;
  const { fetch } = createHttpHandler({ service: fixture.service, clock: fixture.clock, inspector: true });
  const attention = async (): Promise<string> =>
    (await (await fetch(new Request("http://127.0.0.1/_inspector?attention=1"))).text())
      .replace(/<[^>]*>/g, " ")
      .replace(/\s+/g, " ");
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
