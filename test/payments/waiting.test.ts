/** GET with `wait`: answered when the status changes, at once when it is final, and in any case in time. */
import { expect } from "vitest";
import type { TransactionBody } from "../../src/payments/frame/transactions/transaction-schema.ts";
import { expectRefusal, type WalletWorld } from "./wallet/wallet-world.ts";
import { walletTest } from "./wallet/wallet-test.ts";

/** Alice's payment to Bob waits for its broadcast. */
interface Waiting extends WalletWorld {
  /** The transaction that is waited for. */
  readonly id: string;
}

const test = walletTest.extend("world", async ({ open }): Promise<Waiting> => {
  const world = await open({ broadcastDelayMs: 10_000 });
  const { body } = await world.post((await world.pay()).body);
  return { ...world, id: body.transactionId };
});

/** Asks, and says whether it was answered. */
function asking(
  world: Waiting,
  wait: number,
  service = world.fixture.service,
  signal?: AbortSignal,
): { readonly answer: Promise<TransactionBody>; answered(): Promise<boolean> } {
  const { id } = world;
  const answer = service.transaction(world.caller, id, { wait, ...(signal && { signal }) });
  let isAnswered = false;
  void answer.then(() => (isAnswered = true));
  return {
    answer,
    async answered() {
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      return isAnswered;
    },
  };
}

test("it is answered when the status changes and not before", async ({ world }) => {
  const { fixture, id } = world;
  const asked = asking(world, 25);
  expect(await asked.answered()).toBe(false);
  fixture.clock.advance(5_000);
  expect(await asked.answered()).toBe(false);
  await fixture.service.cancelTransaction(world.caller, id);
  expect(await asked.answer).toMatchObject({ transactionId: id, status: "cancelled" });
});

test("without a change it is answered after that time, with the status as it is", async ({ world }) => {
  const { fixture } = world;
  const asked = asking(world, 3);
  expect(await asked.answered()).toBe(false);
  fixture.clock.advance(2_999);
  expect(await asked.answered()).toBe(false);
  fixture.clock.advance(1);
  expect(await asked.answered()).toBe(true);
  expect((await asked.answer).status).toBe("pending");
});

test("a final transaction, and a wait of 0, are answered at once", async ({ world }) => {
  const { fixture, id } = world;
  expect(await asking(world, 0).answered()).toBe(true);
  await fixture.service.cancelTransaction(world.caller, id);
  expect(await asking(world, 25).answered()).toBe(true);
});

test("each change ends one wait: asked again and again it tells every status once", async ({ world }) => {
  const { fixture } = world;
  const seen: string[] = [];
  const follow = (async () => {
    while (seen.at(-1) !== "completed") seen.push((await asking(world, 25).answer).status);
  })();
  for (let round = 0; round < 30 && seen.at(-1) !== "completed"; round++) {
    await fixture.pass(5_000);
    fixture.chain.advance(12);
    await fixture.service.settled();
  }
  await follow;
  expect([...new Set(seen)]).toEqual(seen.filter((status, index) => status !== seen[index - 1]));
  expect(seen).toEqual(expect.arrayContaining(["confirmed", "completed"]));
});

test("what another process changes is seen within a second", async ({ world }) => {
  const { fixture, id } = world;
  const other = fixture.another();
  const asked = asking(world, 25, other);
  expect(await asked.answered()).toBe(false);
  await fixture.service.cancelTransaction(world.caller, id);
  fixture.clock.advance(1_000);
  expect(await asked.answered()).toBe(true);
  expect((await asked.answer).status).toBe("cancelled");
});

test("a caller that has gone, and a service that stops, keep nobody waiting", async ({ world }) => {
  const { fixture } = world;
  const gone = new AbortController();
  const left = asking(world, 25, fixture.service, gone.signal);
  const stayed = asking(world, 25);
  expect(await left.answered()).toBe(false);
  gone.abort();
  expect(await left.answered()).toBe(true);
  expect(await stayed.answered()).toBe(false);
  await fixture.service.stop();
  expect(await stayed.answered()).toBe(true);
});

test.for([-1, 26, 1.5, "5"])("a wait of %j is VALIDATION_ERROR", async (wait, { world }) => {
  const { fixture, id } = world;
  const asked = fixture.service.transaction(world.caller, id, { wait: wait as number });
  await expectRefusal(asked, "VALIDATION_ERROR", { fields: [{ path: "wait" }] });
});

test("H16: another account's transaction is not waited for", async ({ world }) => {
  const { fixture, id } = world;
  const stranger = await fixture.caller();
  const asked = fixture.service.transaction(stranger, id, { wait: 25 });
  await expectRefusal(asked, "TRANSACTION_NOT_FOUND", { transactionId: id });
});
