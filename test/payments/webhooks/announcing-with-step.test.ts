/** A step tells webhooks in its own commit, of the webhooks as they are in that commit. */
// modules: with-step, webhooks
import { expect } from "vitest";
import type { Commit, EngineStorage } from "../../../storage/storage.ts";
import type { PaymentWrite, PaymentTables } from "../../../src/payments/payment-storage.ts";
import type { WebhookRecord } from "../../../src/payments/webhooks/tables.ts";
import { webhookOf } from "../../contracts/storage/samples.ts";
import { units } from "../../kit/money.ts";
import type { ServiceFixture } from "../../kit/service-fixture.ts";
import { recordStorage, type LoggedCommit } from "../../kit/record-storage.ts";
import { serviceTest } from "../../kit/service-test.ts";

const SOL = 1_000_000_000n;

/** A signed send, and a process that takes it. */
const test = serviceTest.extend("scene", async ({ world }) => {
  const caller = await world.caller();
  const alice = world.wallet("alice", { lamports: SOL, usdc: units("20", 6) });
  const bob = world.wallet("bob", { lamports: SOL });
  const { body } = await world.prepareSend(caller, { from: alice, to: bob.address, amount: "1" });
  await world.service.stop();
  const commits: Commit<PaymentTables>[] = [];
  let transactionId = "";
  const webhook = (id: string): WebhookRecord =>
    webhookOf(id, {
      accountId: caller.accountId,
      url: "https://hooks.example/",
      events: ["transaction.pending"],
      createdAt: world.clock.now(),
    });
  return {
    webhook,
    /** Takes the transaction and broadcasts it. `meanwhile` runs each time that the webhooks were read. */
    async goOn(meanwhile: () => Promise<void>): Promise<void> {
      const log = { commits: [] as LoggedCommit[], claims: [] };
      const recorded = recordStorage(world.storage, log, world.clock.now);
      const storage: EngineStorage = {
        ...recorded,
        async find(query) {
          const rows = await recorded.find(query);
          if (query.table.name === "webhooks") await meanwhile();
          return rows;
        },
      };
      const other = world.another({ storage });
      await other.start();
      const taken = await other.createTransaction(caller, { ...body, recipients: [...body.recipients] });
      ({ transactionId } = taken.body);
      await other.settled();
      commits.push(...log.commits.map(({ commit }) => commit));
      await other.settled();
      await other.stop();
    },
    /** What the commit of the step held that tells of the broadcast. */
    announced: () => {
      const step = commits.find(({ writes = [] }) => writes.some(({ table }) => table === "notices"));
      const { writes = [] } = step ?? {};
      return {
        isStep: step?.history?.some(
          ({ instance, value }) => instance === transactionId && value === '"broadcasting"',
        ),
        deliveries: writes.filter(({ table }) => table === "deliveries").length,
        starts: step?.starts?.filter(({ id }) => id !== transactionId).length,
        tasks: step?.arms?.filter(({ task }) => task.name === "announce").length,
      };
    },
    bodies: async () => (await world.storage.notices(transactionId)).map((notice) => notice.body),
    told: async () =>
      (await world.storage.deliveries(transactionId)).map(({ webhookId }) => webhookId).toSorted(),
  };
});

/** The change of an account's webhooks, as the API commits it. */
async function change(
  { storage, clock }: Pick<ServiceFixture, "storage" | "clock">,
  accountId: string,
  write: PaymentWrite,
): Promise<void> {
  const version = await storage.webhookChanges(accountId);
  const list: PaymentWrite =
    version === 0
      ? { table: "webhookLists", insert: { id: accountId, version: 1, changedAt: clock.now() } }
      : {
          table: "webhookLists",
          id: accountId,
          set: { changedAt: clock.now() },
          expectedVersion: version,
        };
  const [answer] = await storage.commit([{ writes: [write, list] }]);
  expect(answer?.ok).toBe(true);
}

const nothing = async (): Promise<void> => undefined;

test.for([
  ["three webhooks in its own commit", 3, { deliveries: 3, starts: 3, tasks: 0 }],
  ["fifty webhooks, the most of an account, in its own commit", 50, { deliveries: 50, starts: 50, tasks: 0 }],
  ["nobody without a task", 0, { deliveries: 0, starts: 0, tasks: 0 }],
] as const)("H31: a step tells %s", async ([, count, held], { world, scene }) => {
  const ids = Array.from({ length: count }, (_, index) => `wh_${index}`);
  for (const id of ids) {
    const insert = scene.webhook(id);
    await change(world, insert.accountId, { table: "webhooks", insert });
  }
  await scene.goOn(nothing);
  expect(scene.announced()).toEqual({ isStep: true, ...held });
  expect(await scene.told()).toEqual(ids.toSorted());
});

test("H31: a webhook that is registered while a step announces is told", async ({ world, scene }) => {
  let isThere = false;
  await scene.goOn(async () => {
    if (isThere) return;
    isThere = true;
    const insert = scene.webhook("wh_1");
    await change(world, insert.accountId, { table: "webhooks", insert });
  });
  expect(await scene.told()).toEqual(["wh_1"]);
  expect(scene.announced()).toEqual({ isStep: true, deliveries: 1, starts: 1, tasks: 0 });
});

test("H31: a webhook that is disabled while a step announces is told nothing", async ({ world, scene }) => {
  const insert = scene.webhook("wh_1");
  await change(world, insert.accountId, { table: "webhooks", insert });
  let isDisabled = false;
  await scene.goOn(async () => {
    if (isDisabled) return;
    isDisabled = true;
    const set = { disabledAt: world.clock.now() };
    await change(world, insert.accountId, { table: "webhooks", id: "wh_1", set });
  });
  expect(await scene.told()).toEqual([]);
});

test("H31: money does not wait for webhooks that change all the time", async ({ world, scene }) => {
  const insert = scene.webhook("wh_1");
  await change(world, insert.accountId, { table: "webhooks", insert });
  let times = 0;
  await scene.goOn(async () => {
    times += 1;
    if (times > 3) return;
    const set = { disabledReason: `${times}` };
    await change(world, insert.accountId, { table: "webhooks", id: "wh_1", set });
  });
  expect(scene.announced()).toEqual({ isStep: true, deliveries: 0, starts: 0, tasks: 1 });
  expect(await scene.told()).toEqual(["wh_1"]);
  expect(await scene.bodies()).not.toContain(null);
});
