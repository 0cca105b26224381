/** What forks, outages and lying nodes may do to a payment: delay it, and nothing else. */
import { afterEach, expect, test } from "vitest";
import type { LocalFetch } from "paystate/local";
import type { Caller } from "../../../src/payments/accounts/caller.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { serviceFixture } from "../../kit/service-fixture.ts";
import type { ServiceFixture } from "../../kit/service-fixture.ts";

const SLOT_MS = 400;
const MINUTE = 60_000;

let fixture: ServiceFixture;
let caller: Caller;
let alice: Wallet;
let bob: Wallet;
let told: string[];

async function begin(): Promise<void> {
  fixture = await serviceFixture();
  caller = await fixture.caller();
  alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  bob = fixture.wallet("bob");
  told = listen(fixture.service);
}

afterEach(() => fixture.close());

function listen(service: PaymentService): string[] {
  const notices: string[] = [];
  service.subscribe({}, ({ event }) => notices.push(event));
  return notices;
}

/** Lets slots, time and the event loop go on together, as they do outside of tests, while calls wait for each other. */
async function live(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += SLOT_MS) {
    fixture.chain.advance(1);
    fixture.clock.advance(SLOT_MS);
    for (let turn = 0; turn < 12; turn++) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
  }
}

const send = (): ReturnType<ServiceFixture["send"]> =>
  fixture.send(caller, { from: alice, to: bob.address, amount: "1" });
const statusOf = async (transactionId: string, service = fixture.service): Promise<string> =>
  (await service.transaction(caller, transactionId)).status;
const paidToBob = async (): Promise<bigint> => {
  const { holdings } = await fixture.ledger.balances(bob.address);
  return holdings[0]?.amount ?? 0n;
};
const ONE_USDC = 1_000_000n;
const WHOLE_STORY = ["transaction.pending", "transaction.confirmed", "transaction.completed"];

test("E9: what vanished on a fork before it was confirmed is told to nobody and lands once, later", async () => {
  await begin();
  const before = fixture.chain.slot();
  const { transactionId } = await send();
  await fixture.service.settled();
  fixture.chain.rollback(before - 1);
  await fixture.service.settled();
  expect(await statusOf(transactionId)).toBe("pending");
  expect(told).toEqual(["transaction.pending"]);
  await fixture.finalize();
  expect(await statusOf(transactionId)).toBe("completed");
  expect(told).toEqual(WHOLE_STORY);
  expect(await paidToBob()).toBe(ONE_USDC);
});

test("E9: what vanished after it was confirmed stays confirmed, is sent again, and lands once", async () => {
  await begin();
  const before = fixture.chain.slot();
  const { transactionId } = await send();
  await fixture.service.settled();
  fixture.chain.advance(2);
  await fixture.service.settled();
  expect(await statusOf(transactionId)).toBe("confirmed");
  fixture.chain.rollback(before - 1);
  expect(await paidToBob()).toBe(0n);
  await fixture.service.settled();
  expect(await statusOf(transactionId)).toBe("confirmed");
  await fixture.finalize();
  await fixture.finalize();
  expect(await statusOf(transactionId)).toBe("completed");
  expect(told).toEqual(WHOLE_STORY);
  expect(await paidToBob()).toBe(ONE_USDC);
});

test("E10: ten minutes of 429 after the broadcast delay the end, and nothing goes back or is paid twice", async () => {
  await begin();
  const { transactionId } = await send();
  await fixture.service.settled();
  const lift = fixture.chain.faults.add(() => ({
    kind: "refuse",
    status: 429,
    headers: { "retry-after": "2" },
  }));
  await live(10 * MINUTE);
  expect(await statusOf(transactionId)).toBe("pending");
  lift();
  await live(2 * MINUTE);
  expect(await statusOf(transactionId)).toBe("completed");
  expect(told).toEqual(WHOLE_STORY);
  expect(await paidToBob()).toBe(ONE_USDC);
});

test("E10: ten minutes of 503 before anything was sent end in a proven death, and nothing was paid", async () => {
  await begin();
  const { body } = await fixture.prepareSend(caller, { from: alice, to: bob.address, amount: "1" });
  const { body: created } = await fixture.service.createTransaction(caller, {
    ...body,
    recipients: [...body.recipients],
  });
  const lift = fixture.chain.faults.add(() => ({ kind: "refuse", status: 503 }));
  await live(10 * MINUTE);
  // Nobody could be asked, so nothing is known: unknown is not failed.
  expect(await statusOf(created.transactionId)).toBe("pending");
  lift();
  await live(2 * MINUTE);
  expect(await fixture.service.transaction(caller, created.transactionId)).toMatchObject({
    status: "failed",
    reason: "expired",
  });
  expect(await paidToBob()).toBe(0n);
});

test("E10: answers that are lost on the way back are unknown, and the payment lands once", async () => {
  await begin();
  const { body } = await fixture.prepareSend(caller, { from: alice, to: bob.address, amount: "1" });
  const { body: created } = await fixture.service.createTransaction(caller, {
    ...body,
    recipients: [...body.recipients],
  });
  const lift = fixture.chain.faults.add(({ method }) =>
    method === "sendTransaction" ? { kind: "lose-answer", status: 502 } : undefined,
  );
  await live(MINUTE / 2);
  lift();
  expect(await statusOf(created.transactionId)).toBe("completed");
  expect(await paidToBob()).toBe(ONE_USDC);
});

test("E10: a node that lags behind tells old news, and no status goes back", async () => {
  await begin();
  const { transactionId } = await send();
  await fixture.service.settled();
  fixture.chain.advance(2);
  await fixture.service.settled();
  expect(await statusOf(transactionId)).toBe("confirmed");
  const lift = fixture.chain.faults.add(() => ({ kind: "lag", slots: 20 }));
  await live(5_000);
  expect(await statusOf(transactionId)).toBe("confirmed");
  lift();
  await live(MINUTE);
  expect(await statusOf(transactionId)).toBe("completed");
  expect(told).toEqual(WHOLE_STORY);
});

test("E7, E10: of two nodes one that denies a landed transaction cannot have it pronounced dead", async () => {
  await begin();
  const denying: LocalFetch = async (input, init) => {
    const answer = await fixture.chain.fetch(input, init);
    const { method } = JSON.parse(init?.body as string) as { method?: string };
    if (method !== "getSignatureStatuses") return answer;
    const honest = (await answer.json()) as { result: { value: unknown[] } };
    honest.result.value = honest.result.value.map(() => null);
    return new Response(JSON.stringify(honest), { status: 200 });
  };
  await fixture.service.stop();
  // The liar is the preferred node: it is the one whose statuses are believed until somebody contradicts.
  const service = fixture.another({
    ledger: fixture.ledgerOf([
      { url: "http://liar", fetch: denying },
      { url: "http://honest", fetch: fixture.chain.fetch },
    ]),
  });
  await service.start();
  told = listen(service);
  const { transactionId } = await send();
  await live(3 * MINUTE);
  expect(await paidToBob()).toBe(ONE_USDC);
  expect(await statusOf(transactionId, service)).toBe("completed");
  expect(told).toEqual(WHOLE_STORY);
  await service.stop();
});

test("W9: posted, never seen by any node and past its height, it is dead, and dead only then", async () => {
  await begin();
  fixture.chain.faults.add(({ method }) => (method === "sendTransaction" ? { kind: "drop" } : undefined));
  const { transactionId } = await send();
  await live(50_000);
  expect(await statusOf(transactionId)).toBe("pending");
  await live(60_000);
  expect(await statusOf(transactionId)).toBe("failed");
  expect(told).toEqual(["transaction.pending", "transaction.failed"]);
});

test("landed with an error it is failed once that is final, never confirmed, and its fee was paid", async () => {
  fixture = await serviceFixture({ broadcastDelayMs: 1_000 });
  caller = await fixture.caller();
  alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 1_500_000n });
  bob = fixture.wallet("bob");
  told = listen(fixture.service);
  // Either alone would succeed; the first leaves too little for the second.
  const [first, second] = [await send(), await send()];
  await fixture.pass(1_000);
  fixture.chain.advance(2);
  await fixture.service.settled();
  const statuses = async (): Promise<readonly string[]> =>
    [await statusOf(first.transactionId), await statusOf(second.transactionId)].toSorted();
  expect(await statuses()).toEqual(["confirmed", "pending"]);
  await fixture.finalize();
  expect(await statuses()).toEqual(["completed", "failed"]);
  const views = await Promise.all(
    [first, second].map(({ transactionId }) => fixture.service.transaction(caller, transactionId)),
  );
  const failed = views.find(({ status }) => status === "failed");
  expect(failed).toMatchObject({ reason: "transaction_error", fee: "0.000005" });
  expect(failed?.recipients).toMatchObject([{ status: "unpaid" }]);
  expect(told.toSorted()).toEqual([...WHOLE_STORY, "transaction.pending", "transaction.failed"].toSorted());
  expect(await paidToBob()).toBe(ONE_USDC);
});
