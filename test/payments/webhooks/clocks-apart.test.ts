/** D10: the clocks of processes differ, and nothing that they announce is out of order or lost. */
// modules: webhooks
import { expect } from "vitest";
import { webhookOf } from "../../contracts/storage/samples.ts";
import { serviceTest } from "../../kit/service-test.ts";
import { units } from "../../kit/money.ts";

const SOL = 1_000_000_000n;
const BEHIND_MS = 60_000;
// As the database has it: no test here is about the address.
const URL = "https://hooks.example/";
const PASSES_MS = 20_000;

serviceTest(
  "D10: a transaction's timeline is in order where the process that ends it is seconds behind the one that began it",
  async ({ world }) => {
    const caller = await world.caller();
    const alice = world.wallet("alice", { lamports: SOL, usdc: units("20", 6) });
    const bob = world.wallet("bob", { lamports: SOL });
    const { transactionId } = await world.send(caller, { from: alice, to: bob.address, amount: "1" });
    await world.service.settled();
    await world.service.stop();
    const clock = { now: () => world.clock.now() - BEHIND_MS, sleep: world.clock.sleep };
    const other = world.another({ clock });
    await other.start();
    world.chain.advance(2);
    await world.pass(PASSES_MS);
    await other.settled();
    world.chain.advance(40);
    await world.pass(PASSES_MS);
    await other.settled();
    const { data } = await other.transactionEvents(caller, transactionId, { order: "asc" });
    expect(data.map(({ event }) => event)).toEqual([
      "transaction.pending",
      "transaction.confirmed",
      "transaction.completed",
    ]);
    await other.stop();
  },
);

serviceTest.for([
  ["a minute behind", 0],
  ["more than a minute behind", 1],
] as const)(
  "D10: a webhook misses nothing of a process whose clock is %s",
  async ([, laterMs], { world }) => {
    const caller = await world.caller();
    const alice = world.wallet("alice", { lamports: SOL, usdc: units("20", 6) });
    const bob = world.wallet("bob", { lamports: SOL });
    const webhook = webhookOf("wh_1", {
      accountId: caller.accountId,
      url: URL,
      events: ["transaction.pending"],
      createdAt: world.clock.now() + laterMs,
    });
    await world.storage.commit([{ writes: [{ table: "webhooks", insert: webhook }] }]);
    const send = await world.prepareSend(caller, { from: alice, to: bob.address, amount: "1" });
    await world.service.stop();
    const clock = { now: () => world.clock.now() - BEHIND_MS, sleep: world.clock.sleep };
    const other = world.another({ clock });
    await other.start();
    const { body } = await other.createTransaction(caller, {
      ...send.body,
      recipients: [...send.body.recipients],
    });
    await other.settled();
    expect(await world.storage.deliveries(body.transactionId)).toMatchObject([{ webhookId: "wh_1" }]);
    await other.stop();
  },
);
