/** One key for two registrations at once, where the account has room for one webhook more. */
// modules: webhooks
import { afterEach, expect, test } from "vitest";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { RequestOptions } from "../../../src/payments/frame/accounts/answer-once.ts";
import { startHttpsReceiver, type HttpsReceiver } from "../../kit/https-receiver.ts";
import { meetAtEveryCommit, type Ending, type Through } from "../../kit/meet-at-every-commit.ts";
import { serviceFixture, type ServiceFixture } from "../../kit/service-fixture.ts";

let world: ServiceFixture;
let receiver: HttpsReceiver;
afterEach(async () => {
  await world.close();
  await receiver.close();
});

type Registered = { readonly text: string; readonly replayed: boolean };

async function open(): Promise<void> {
  receiver = await startHttpsReceiver();
  world = await serviceFixture({ webhooks: { allowAddress: () => true, ca: receiver.ca } });
}

const registering =
  (options: RequestOptions, event = "transaction.completed") =>
  async (caller: Caller, through: Through): Promise<Registered> => {
    const service = world.another({ storage: through(world.storage) });
    return service.registerWebhook(caller, { url: receiver.url, events: [event] }, options);
  };

/** An account that has all but one of its webhooks. */
async function almostFull(): Promise<Caller> {
  const caller = await world.caller("free");
  for (let webhook = 0; webhook < 2; webhook++) await registering({})(caller, (outside) => outside);
  return caller;
}

const codeOf = (ending: Ending<unknown>): unknown =>
  ending.status === "rejected" ? (ending.reason as { readonly code: unknown }).code : null;

test("E3: the same registration twice at once takes one place, and both get its answer", async () => {
  await open();
  await meetAtEveryCommit({
    arrange: almostFull,
    one: registering({ idempotencyKey: "k" }),
    other: registering({ idempotencyKey: "k" }),
    judge: async (caller, one, other) => {
      if (one.status === "rejected") throw one.reason;
      if (other.status === "rejected") throw other.reason;
      expect(other.value.text).toBe(one.value.text);
      expect(new Set([one.value.replayed, other.value.replayed])).toEqual(new Set([true, false]));
      expect(await world.storage.webhooks(caller.accountId)).toHaveLength(3);
    },
  });
});

test("E2: another registration under the same key at once is refused, and takes no place", async () => {
  await open();
  await meetAtEveryCommit({
    arrange: () => world.caller("free"),
    one: registering({ idempotencyKey: "k" }),
    other: registering({ idempotencyKey: "k" }, "transaction.failed"),
    judge: async (caller, one, other) => {
      expect(new Set([codeOf(one), codeOf(other)])).toEqual(new Set([null, "IDEMPOTENCY_KEY_REUSED"]));
      expect(await world.storage.webhooks(caller.accountId)).toHaveLength(1);
    },
  });
});
