/** E5: a process is killed at every single call it makes, before and after; the end is the same every time. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { memoryStorage } from "paystate/storage/memory";
import { createPaymentService } from "../../src/create-payment-service.ts";
import type { PaymentService } from "../../src/create-payment-service.ts";
import { SCOPES } from "../../src/payments/caller.ts";
import type { Caller } from "../../src/payments/caller.ts";
import { chainFixture, signPayment } from "../kit/chain-fixture.ts";
import type { ChainFixture, Wallet } from "../kit/chain-fixture.ts";
import { startHttpsReceiver } from "../kit/https-receiver.ts";
import type { HttpsReceiver } from "../kit/https-receiver.ts";
import { mortalProcess } from "../kit/mortal.ts";
import type { Death, MortalProcess } from "../kit/mortal.ts";
import { passTime } from "../kit/pass-time.ts";
import { TEST_MASTER_SECRET } from "../kit/service-fixture.ts";

const LEASE_MS = 15_000;
const EVENTS = ["transaction.pending", "transaction.confirmed", "transaction.completed"];
const ALL_EVENTS = [...EVENTS, "transaction.failed"];

let receiver: HttpsReceiver;
beforeAll(async () => {
  receiver = await startHttpsReceiver();
});
afterAll(() => receiver.close());

/** One world that outlives its processes: a chain, a database, a caller with a webhook. */
interface World {
  readonly fixture: ChainFixture;
  readonly storage: ReturnType<typeof memoryStorage>;
  readonly caller: Caller;
  readonly alice: Wallet;
  readonly bob: Wallet;
  /** Starts a process; the one before it is dead. */
  begin(process: MortalProcess): PaymentService;
}

async function world(): Promise<World> {
  const fixture = await chainFixture();
  const storage = memoryStorage();
  const begin = (process: MortalProcess): PaymentService =>
    createPaymentService({
      storage: process.within(storage),
      ledger: process.within(fixture.ledger),
      clock: fixture.clock,
      masterSecrets: [TEST_MASTER_SECRET],
      stablecoins: fixture.mints,
      broadcastDelayMs: 1_000,
      webhooks: { ca: receiver.ca, allowAddress: (ip) => ip === "127.0.0.1" },
    });
  const setup = begin(mortalProcess());
  const { accountId } = await setup.createAccount({ name: "crash", tier: "enterprise" });
  const caller: Caller = { accountId, tier: "enterprise", scopes: SCOPES };
  await setup.registerWebhook(caller, { url: receiver.url, events: ALL_EVENTS });
  const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 10_000_000n });
  return { fixture, storage, caller, alice, bob: fixture.wallet("bob"), begin };
}

/** A flow as a client lives through it: what throws or never answers is asked again of the next process. */
type Flow = (service: PaymentService, world: World) => Promise<string>;

const DEAD = Symbol("dead");

/** Runs a flow on a process that dies, and again on one that does not; answers the calls of the first. */
async function liveThrough(flow: Flow, death: Death | undefined, here: World): Promise<readonly string[]> {
  const first = mortalProcess(death);
  const attempt = async (process: MortalProcess): Promise<unknown> => {
    const service = here.begin(process);
    const work = service.start().then(() => flow(service, here));
    return Promise.race([work, process.died.then(() => DEAD)]);
  };
  const outcome = await attempt(first);
  if (outcome === DEAD) {
    // The leases of the dead run out before anybody else may do their work.
    here.fixture.clock.advance(LEASE_MS);
    await attempt(mortalProcess());
  }
  return first.calls;
}

async function usdcOfBob({ fixture, bob }: World): Promise<bigint> {
  const { holdings } = await fixture.ledger.balances(bob.address);
  return holdings[0]?.amount ?? 0n;
}

/** The body of a payment of 1 USDC; the same bytes for every process that posts it. */
async function signedSend({ fixture, alice, bob }: World, quoteId: string): Promise<object> {
  const payment = { sender: alice.address, mint: fixture.mints.USDC, decimals: 6 };
  const transfers = [{ recipient: bob.address, amount: 1_000_000n }];
  const { bytes } = await fixture.ledger.buildPayment({ ...payment, transfers }, new Uint8Array(32));
  return {
    type: "send",
    quoteId,
    sender: alice.address,
    recipients: [{ address: bob.address, amount: "1" }],
    signedTransaction: signPayment(bytes, alice.secretKey),
  };
}

/** What the client of each world wrote down before it posted. */
const kept = new WeakMap<World, { quoteId: string; body: object }>();

/** Quotes and posts, with the same key and body however often it takes, as a careful client does. */
async function post(service: PaymentService, here: World): Promise<string> {
  const { caller } = here;
  const request = { inputAsset: "USDC", outputAsset: "USDC", amount: "1" };
  const { body: quote } = await service.createQuote(caller, request, { idempotencyKey: "quote" });
  const known = kept.get(here) ?? { quoteId: quote.quoteId, body: await signedSend(here, quote.quoteId) };
  kept.set(here, known);
  const { body } = await service.createTransaction(caller, known.body as never, { idempotencyKey: "post" });
  return body.transactionId;
}

const pass = async (service: PaymentService, { fixture, storage }: World, ms: number): Promise<void> =>
  passTime(
    { clock: fixture.clock, engine: service, storage, workflows: service.workflows },
    fixture.clock.now() + ms,
  );

async function checkWhole(here: World, transactionId: string, notices: readonly string[]): Promise<void> {
  const { storage } = here;
  const stored = await storage.notices(transactionId);
  expect(stored.map(({ event }) => event).toSorted()).toEqual([...notices].toSorted());
  const deliveries = await storage.deliveries(transactionId);
  expect(deliveries.map(({ status }) => status)).toEqual(notices.map(() => "delivered"));
  const received = receiver.requests
    .filter(({ method }) => method === "POST")
    .filter(({ body }) => body.includes(transactionId));
  // A duplicate is allowed where a process died between sending and recording; a loss is not.
  expect(new Set(received.map(({ headers }) => headers["webhook-id"]))).toEqual(
    new Set(stored.map(({ id }) => id)),
  );
}

const sendToTheEnd: Flow = async (service, here) => {
  const transactionId = await post(service, here);
  await pass(service, here, 1_000);
  for (const slots of [2, 40]) {
    here.fixture.chain.advance(slots);
    await service.settled();
  }
  // What a dead process held is due again when its lease has ended.
  await pass(service, here, 2 * LEASE_MS);
  here.fixture.chain.advance(40);
  await service.settled();
  await pass(service, here, LEASE_MS);
  return transactionId;
};

const sendThatDies: Flow = async (service, here) => {
  const { chain } = here.fixture;
  chain.faults.add(({ method }) => (method === "sendTransaction" ? { kind: "drop" } : undefined));
  const transactionId = await post(service, here);
  await pass(service, here, 1_000);
  // Past the last valid height, and then past it at finalized: only that is proof.
  for (const slots of [151, 40, 40]) {
    chain.advance(slots);
    await service.settled();
  }
  await pass(service, here, 2 * LEASE_MS);
  chain.advance(200);
  await service.settled();
  await pass(service, here, LEASE_MS);
  return transactionId;
};

const cancelInTime: Flow = async (service, here) => {
  const transactionId = await post(service, here);
  const { status } = await service.transaction(here.caller, transactionId);
  if (status === "pending") {
    await service.cancelTransaction(here.caller, transactionId).catch((error: unknown) => {
      // Too late after a restart is an honest answer; anything else is not.
      expect(error).toMatchObject({
        code: expect.stringMatching(/ALREADY_PROCESSED|CANNOT_CANCEL/) as string,
      });
    });
  }
  await pass(service, here, 2 * LEASE_MS);
  here.fixture.chain.advance(40);
  await service.settled();
  await pass(service, here, LEASE_MS);
  return transactionId;
};

async function everyDeath(flow: Flow, check: (here: World) => Promise<void>): Promise<number> {
  const lived = await world();
  const calls = await liveThrough(flow, undefined, lived);
  await check(lived);
  await lived.fixture.close();
  let deaths = 0;
  for (const [index, method] of calls.entries()) {
    for (const moment of ["before", "after"] as const) {
      const here = await world();
      await liveThrough(flow, { call: index + 1, moment }, here);
      await check(here).catch((error: unknown) => {
        throw new Error(`killed ${moment} call ${index + 1} (${method})`, { cause: error });
      });
      await here.fixture.close();
      deaths += 1;
    }
  }
  return deaths;
}

/** What the careful client was told in the end; nothing was set aside on the way. */
async function answered(here: World): Promise<string> {
  const known = kept.get(here);
  const quote = known === undefined ? null : await here.storage.quote(known.quoteId);
  if (quote === null || quote.usedBy === null) throw new Error("nothing was ever taken");
  expect(await here.storage.deadLetters(1)).toEqual([]);
  return quote.usedBy;
}

test(
  "E5: a send that is killed at any call is paid once and every notice arrives",
  { timeout: 120_000 },
  async () => {
    const deaths = await everyDeath(sendToTheEnd, async (here) => {
      expect(await usdcOfBob(here)).toBe(1_000_000n);
      const transactionId = await answered(here);
      expect((await here.storage.transaction(transactionId))?.transaction.status).toBe("completed");
      await checkWhole(here, transactionId, EVENTS);
    });
    expect(deaths).toBeGreaterThan(50);
  },
);

test(
  "E5, W11: a cancellation that is killed at any call is cancelled and unsent, or sent and paid once",
  { timeout: 120_000 },
  async () => {
    await everyDeath(cancelInTime, async (here) => {
      const transactionId = await answered(here);
      const status = (await here.storage.transaction(transactionId))?.transaction.status;
      const notices = (await here.storage.notices(transactionId)).length;
      expect([
        { status: "cancelled", paid: 0n, notices: 0 },
        { status: "completed", paid: 1_000_000n, notices: 3 },
      ]).toContainEqual({ status, paid: await usdcOfBob(here), notices });
    });
  },
);

test(
  "E5, W9: a send that no node ever takes is proved dead, paid to nobody and told so, whichever call it is killed at",
  { timeout: 120_000 },
  async () => {
    await everyDeath(sendThatDies, async (here) => {
      expect(await usdcOfBob(here)).toBe(0n);
      const transactionId = await answered(here);
      expect((await here.storage.transaction(transactionId))?.transaction).toMatchObject({
        status: "failed",
        reason: "expired",
      });
      await checkWhole(here, transactionId, ["transaction.pending", "transaction.failed"]);
    });
  },
);
