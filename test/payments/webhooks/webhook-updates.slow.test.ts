/** What a changed webhook is told from then on, and how that is signed. */
// modules: webhooks
import { Webhook } from "standardwebhooks";
import { expect, vi } from "vitest";
import { verifyServiceSignature } from "../../../src/payments/webhooks/sending/signature.ts";
import { answerWith } from "../../kit/https-receiver.ts";
import { webhookTest } from "./webhook-test.ts";
import { SECRET, type WebhookWorld } from "./webhook-world.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NEW_SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

const test = webhookTest
  .extend("webhookId", { auto: true }, ({ register }) => register({ secret: SECRET }))
  .extend(
    "update",
    ({ service, customer, webhookId }) =>
      (change: object): Promise<unknown> =>
        service.updateWebhook(customer, webhookId, change),
  )
  .extend(
    "verifiedBy",
    ({ world }) =>
      () =>
        verifiedIn(world),
  );

/** Which of the two secrets the newest delivery can be verified with: `X-Service-Signature` first, then Standard Webhooks. */
async function verifiedIn(world: WebhookWorld): Promise<Record<"service" | "standard", string[]>> {
  const { fixture } = world;
  const before = world.posts().length;
  await world.sendOne();
  await fixture.finalize();
  const sent = world.posts().at(-1);
  expect(world.posts().length).toBeGreaterThan(before);
  const text = sent?.body.toString("utf8") ?? "";
  const headers = (sent?.headers ?? {}) as Record<string, string>;
  vi.useFakeTimers({ toFake: ["Date"], now: fixture.clock.now() });
  const isStandard = (secret: string): boolean => {
    try {
      return new Webhook(secret).verify(text, headers) !== undefined;
    } catch {
      return false;
    }
  };
  const named = { old: SECRET, new: NEW_SECRET };
  const passing = (holds: (secret: string) => boolean): string[] =>
    Object.entries(named).flatMap(([name, secret]) => (holds(secret) ? [name] : []));
  const service = passing((secret) => verifyServiceSignature(text, headers["x-service-signature"], secret));
  const standard = passing(isStandard);
  vi.useRealTimers();
  return { service, standard };
}

test("H29: a new secret signs at once, and webhook-signature holds the old one's signature for 24 hours more", async ({
  fixture,
  update,
  verifiedBy,
}) => {
  expect(await verifiedBy()).toEqual({ service: ["old"], standard: ["old"] });
  await update({ secret: NEW_SECRET });
  expect(await verifiedBy()).toEqual({ service: ["new"], standard: ["old", "new"] });
  fixture.clock.advance(23 * HOUR);
  // Said again, as by a client that lost the answer: the old one's time does not begin anew, nor end.
  await update({ secret: NEW_SECRET });
  expect(await verifiedBy()).toEqual({ service: ["new"], standard: ["old", "new"] });
  fixture.clock.advance(HOUR);
  expect(await verifiedBy()).toEqual({ service: ["new"], standard: ["new"] });
});

test("H29: null ends signing, the old secret's included, and a secret set after that has none before it", async ({
  world,
  update,
  verifiedBy,
}) => {
  await update({ secret: NEW_SECRET });
  await update({ secret: null });
  expect(await verifiedBy()).toEqual({ service: [], standard: [] });
  const unsigned = world.posts().at(-1)?.headers;
  expect(unsigned).not.toHaveProperty("webhook-signature");
  expect(unsigned).not.toHaveProperty("x-service-signature");
  await update({ secret: NEW_SECRET });
  expect(await verifiedBy()).toEqual({ service: ["new"], standard: ["new"] });
});

test("H8: a disabled webhook gets nothing more, retries that wait included; enabled again it is told what happens then", async ({
  world,
  fixture,
  update,
}) => {
  world.receiver.answer(answerWith(500));
  const transactionId = await world.sendOne();
  await fixture.service.settled();
  expect(world.posts()).toHaveLength(1);
  await update({ enabled: false });
  await fixture.pass(24 * HOUR);
  await fixture.finalize();
  expect(world.posts()).toHaveLength(1);
  expect(await fixture.storage.deliveries(transactionId)).toMatchObject([{ status: "dropped" }]);
  await update({ enabled: true });
  world.receiver.answer(answerWith(200));
  await world.sendOne();
  await fixture.finalize();
  expect(world.eventsReceived().slice(1)).toEqual([
    "transaction.pending",
    "transaction.confirmed",
    "transaction.completed",
  ]);
});

test("H29: another url gets the retries that wait, and other events are told from the next notice on", async ({
  world,
  fixture,
  update,
}) => {
  world.receiver.answer(answerWith(500));
  await world.sendOne();
  await fixture.service.settled();
  world.receiver.answer(answerWith(200));
  await update({ url: `${world.receiver.url}/moved`, events: ["transaction.completed"] });
  await fixture.pass(MINUTE);
  await fixture.finalize();
  expect(world.posts().map(({ path }) => path)).toEqual(["/hook", "/hook/moved", "/hook/moved"]);
  expect(world.eventsReceived()).toEqual([
    "transaction.pending",
    "transaction.pending",
    "transaction.completed",
  ]);
});

test("of two changes at once neither is lost", async ({ world, fixture, webhookId, update }) => {
  const changes = [{ events: ["transaction.failed"] }, { enabled: false }, { secret: NEW_SECRET }];
  await Promise.all(changes.map(update));
  expect(await fixture.service.webhook(world.caller, webhookId)).toMatchObject({
    events: ["transaction.failed"],
    enabled: false,
  });
  expect((await fixture.storage.webhook(webhookId))?.previousSealedSecret).not.toBeNull();
});
