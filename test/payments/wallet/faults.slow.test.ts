/** What forks, outages and lying nodes may do to a payment: delay it, and nothing else. */
// modules: webhooks
import { expect } from "vitest";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import type { ServiceFixture } from "../../kit/service-fixture.ts";
import { serviceTest } from "../../kit/service-test.ts";
import { dropping, noStatuses, oddEndpoint } from "../../kit/odd-endpoints.ts";

const SLOT_MS = 400;
const MINUTE = 60_000;

/** Alice, who pays Bob, and what is told of it. */
interface Stage extends ServiceFixture {
  readonly customer: Caller;
  readonly alice: Wallet;
  readonly bob: Wallet;
  told: readonly string[];
}

const test = serviceTest.extend("world", ({ world }) => staged(world, 50_000_000n));

async function staged(world: ServiceFixture, usdc: bigint): Promise<Stage> {
  const customer = await world.caller();
  const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc });
  return { ...world, customer, alice, bob: world.wallet("bob"), told: listen(world.service) };
}

function listen(service: PaymentService): string[] {
  const notices: string[] = [];
  service.subscribe({}, ({ event }) => notices.push(event));
  return notices;
}

/** Lets slots, time and the event loop go on together, as they do outside of tests, while calls wait for each other. */
async function live(world: Stage, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += SLOT_MS) {
    world.chain.advance(1);
    world.clock.advance(SLOT_MS);
    for (let turn = 0; turn < 12; turn++) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
  }
}

const send = (world: Stage): ReturnType<ServiceFixture["send"]> =>
  world.send(world.customer, { from: world.alice, to: world.bob.address, amount: "1" });
const statusOf = async (world: Stage, transactionId: string, service = world.service): Promise<string> =>
  (await service.transaction(world.customer, transactionId)).status;
const paidToBob = async (world: Stage): Promise<bigint> => {
  const { bob } = world;
  const { holdings } = await world.ledger.balances(bob.address);
  return holdings[0]?.amount ?? 0n;
};
const ONE_USDC = 1_000_000n;
const WHOLE_STORY = ["transaction.pending", "transaction.confirmed", "transaction.completed"];

test("E9: what vanished on a fork before it was confirmed is told to nobody and lands once, later", async ({
  world,
}) => {
  const before = world.chain.slot();
  const { transactionId } = await send(world);
  await world.service.settled();
  world.chain.rollback(before - 1);
  await world.service.settled();
  expect(await statusOf(world, transactionId)).toBe("pending");
  expect(world.told).toEqual(["transaction.pending"]);
  await world.finalize();
  expect(await statusOf(world, transactionId)).toBe("completed");
  expect(world.told).toEqual(WHOLE_STORY);
  expect(await paidToBob(world)).toBe(ONE_USDC);
});

test("E9: what vanished after it was confirmed stays confirmed, is sent again, and lands once", async ({
  world,
}) => {
  const before = world.chain.slot();
  const { transactionId } = await send(world);
  await world.service.settled();
  world.chain.advance(2);
  await world.service.settled();
  expect(await statusOf(world, transactionId)).toBe("confirmed");
  world.chain.rollback(before - 1);
  expect(await paidToBob(world)).toBe(0n);
  await world.service.settled();
  expect(await statusOf(world, transactionId)).toBe("confirmed");
  await world.finalize();
  await world.finalize();
  expect(await statusOf(world, transactionId)).toBe("completed");
  expect(world.told).toEqual(WHOLE_STORY);
  expect(await paidToBob(world)).toBe(ONE_USDC);
});

test("E10: ten minutes of 429 after the broadcast delay the end, and nothing goes back or is paid twice", async ({
  world,
}) => {
  const { transactionId } = await send(world);
  await world.service.settled();
  const lift = world.chain.faults.add(() => ({
    kind: "refuse",
    status: 429,
    headers: { "retry-after": "2" },
  }));
  await live(world, 10 * MINUTE);
  expect(await statusOf(world, transactionId)).toBe("pending");
  lift();
  await live(world, 2 * MINUTE);
  expect(await statusOf(world, transactionId)).toBe("completed");
  expect(world.told).toEqual(WHOLE_STORY);
  expect(await paidToBob(world)).toBe(ONE_USDC);
});

test("E10: ten minutes of 503 before anything was sent end in a proven death, and nothing was paid", async ({
  world,
}) => {
  const { alice, bob } = world;
  const { body } = await world.prepareSend(world.customer, { from: alice, to: bob.address, amount: "1" });
  const take = world.chain.faults.add(({ method }) =>
    method === "sendTransaction" ? { kind: "refuse", status: 503 } : undefined,
  );
  const { body: created } = await world.service.createTransaction(world.customer, {
    ...body,
    recipients: [...body.recipients],
  });
  const lift = world.chain.faults.add(() => ({ kind: "refuse", status: 503 }));
  await live(world, 10 * MINUTE);
  // Nobody could be asked, so nothing is known: unknown is not failed.
  expect(await statusOf(world, created.transactionId)).toBe("pending");
  take();
  lift();
  await live(world, 2 * MINUTE);
  expect(await world.service.transaction(world.customer, created.transactionId)).toMatchObject({
    status: "failed",
    reason: "expired",
  });
  expect(await paidToBob(world)).toBe(0n);
});

test("E10: answers that are lost on the way back are unknown, and the payment lands once", async ({
  world,
}) => {
  const { alice, bob } = world;
  const { body } = await world.prepareSend(world.customer, { from: alice, to: bob.address, amount: "1" });
  const lift = world.chain.faults.add(({ method }) =>
    method === "sendTransaction" ? { kind: "lose-answer", status: 502 } : undefined,
  );
  const { body: created } = await world.service.createTransaction(world.customer, {
    ...body,
    recipients: [...body.recipients],
  });
  await live(world, MINUTE / 2);
  lift();
  expect(await statusOf(world, created.transactionId)).toBe("completed");
  expect(await paidToBob(world)).toBe(ONE_USDC);
});

test("E10: a node that lags behind tells old news, and no status goes back", async ({ world }) => {
  const { transactionId } = await send(world);
  await world.service.settled();
  world.chain.advance(2);
  await world.service.settled();
  expect(await statusOf(world, transactionId)).toBe("confirmed");
  const lift = world.chain.faults.add(() => ({ kind: "lag", slots: 20 }));
  await live(world, 5_000);
  expect(await statusOf(world, transactionId)).toBe("confirmed");
  lift();
  await live(world, MINUTE);
  expect(await statusOf(world, transactionId)).toBe("completed");
  expect(world.told).toEqual(WHOLE_STORY);
});

test("E7, E10: of two nodes one that denies a landed transaction cannot have it pronounced dead", async ({
  world,
}) => {
  await world.service.stop();
  // The liar is the preferred node: it is the one whose statuses are believed until somebody contradicts.
  const service = world.another({
    ledger: world.ledgerOf([
      oddEndpoint(world.chain, "liar", noStatuses).option,
      oddEndpoint(world.chain, "honest").option,
    ]),
  });
  await service.start();
  world.told = listen(service);
  const { transactionId } = await send(world);
  await live(world, 3 * MINUTE);
  expect(await paidToBob(world)).toBe(ONE_USDC);
  expect(await statusOf(world, transactionId, service)).toBe("completed");
  expect(world.told).toEqual(WHOLE_STORY);
  await service.stop();
});

test("W9: posted, never seen by any node and past its height, it is dead, and dead only then", async ({
  world,
}) => {
  world.chain.faults.add(dropping);
  const { transactionId } = await send(world);
  await live(world, 50_000);
  expect(await statusOf(world, transactionId)).toBe("pending");
  await live(world, 60_000);
  expect(await statusOf(world, transactionId)).toBe("failed");
  expect(world.told).toEqual(["transaction.pending", "transaction.failed"]);
});

test("landed with an error it is failed once that is final, never confirmed, and its fee was paid", async ({
  open,
}) => {
  const world = await staged(await open({ broadcastDelayMs: 1_000 }), 1_500_000n);
  // Either alone would succeed; the first leaves too little for the second.
  const [first, second] = [await send(world), await send(world)];
  await world.pass(1_000);
  world.chain.advance(2);
  await world.service.settled();
  const statuses = async (): Promise<readonly string[]> =>
    [await statusOf(world, first.transactionId), await statusOf(world, second.transactionId)].toSorted();
  expect(await statuses()).toEqual(["confirmed", "pending"]);
  await world.finalize();
  expect(await statuses()).toEqual(["completed", "failed"]);
  const views = await Promise.all(
    [first, second].map(({ transactionId }) => world.service.transaction(world.customer, transactionId)),
  );
  const failed = views.find(({ status }) => status === "failed");
  expect(failed).toMatchObject({ reason: "transaction_error", fee: "0.000005091" });
  expect(failed?.recipients).toMatchObject([{ status: "unpaid" }]);
  expect(world.told.toSorted()).toEqual(
    [...WHOLE_STORY, "transaction.pending", "transaction.failed"].toSorted(),
  );
  expect(await paidToBob(world)).toBe(ONE_USDC);
});
