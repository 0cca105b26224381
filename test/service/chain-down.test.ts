/** What a service does that starts while its chain is silent, and what it never does before the chain was compared. */
import { agreed } from "../../src/ledger/agreed.ts";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { snapshotFromText } from "../../src/workflow/snapshot-text.ts";
import { MAINNET_GENESIS } from "../../src/payments/frame/assets/assets.ts";
import { createHttpHandler } from "../../src/http/create-http-handler.ts";
import { createLocalChain, type LocalChain } from "../../src/local/index.ts";
import { LedgerUnavailable, type Ledger } from "../../src/ledger/ledger.ts";
import type { Caller } from "../../src/payments/frame/accounts/caller.ts";
import type { PaymentService } from "../../src/service/payment-service.ts";
import type { PaymentServiceOptions } from "../../src/service/payment-service-options.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { answerWith, startHttpsReceiver, type HttpsReceiver } from "../kit/https-receiver.ts";
import { memoryStorage } from "../kit/storages.ts";
import { TEST_MASTER_SECRET, type Send, type ServiceFixture } from "../kit/service-fixture.ts";
import { serviceTest as test } from "../kit/service-test.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { lateNode, live, living, type LateNode, type Serving } from "./late-node.ts";

const DELAY_MS = 20_000;
const MINUTE = 60_000;

let receiver: HttpsReceiver;
let elsewhere: LocalChain;
beforeAll(async () => {
  receiver = await startHttpsReceiver();
  elsewhere = await createLocalChain({ clock: virtualClock(), slotMs: 0, seed: "another chain" });
  elsewhere.advance(40);
});
afterAll(async () => {
  await receiver.close();
  await elsewhere.close();
});

/** A customer with a transaction that was taken and not sent yet, and a service that starts on a late node. */
interface Scene {
  readonly world: ServiceFixture;
  readonly caller: Caller;
  readonly pay: Send;
  /** The transaction. */
  readonly taken: string;
  readonly node: LateNode;
  readonly late: PaymentService;
  /** What `late` has logged as an error. */
  readonly errors: string[];
}

async function sceneOf(
  world: ServiceFixture,
  serves: Serving = "refuses",
  options: Partial<PaymentServiceOptions> = {},
): Promise<Scene> {
  const caller = await world.caller();
  const from = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  const pay = { from, to: world.wallet("bob").address, amount: "1" };
  const { transactionId: taken } = await world.send(caller, pay);
  await world.service.stop();
  const node = lateNode(serves);
  const errors: string[] = [];
  const logger = { ...silentLogger, error: (_: object, message: string) => void errors.push(message) };
  const late = world.another({ ledger: world.ledgerOf([node.option]), logger, ...options });
  return { world, caller, pay, taken, node, late, errors };
}

/** Whether it can still be cancelled. */
async function stateOf({ world, taken }: Scene): Promise<unknown> {
  const record = await world.storage.load(taken);
  return record === null ? null : snapshotFromText(record.snapshot).value;
}

const open = { broadcastDelayMs: DELAY_MS };
// modules: webhooks
const hooks = () => ({ webhooks: { ca: receiver.ca, allowAddress: (ip: string) => ip === "127.0.0.1" } });

describe("E10: the chain is silent at the start", () => {
  test("the service starts, is degraded and ready, and says what it waits for", async ({ open: opened }) => {
    const scene = await sceneOf(await opened(open));
    const { late } = scene;
    await late.start();
    expect(await late.health()).toMatchObject({
      status: "degraded",
      chain: {
        state: "silent",
        message: expect.stringMatching(/^the chain has not been reached since the start/) as string,
      },
      ledger: null,
    });
    const handler = createHttpHandler({ service: late, health: true });
    const ready = await handler.fetch(new Request("https://pay.example/health/ready"));
    expect([ready.status, await ready.json()]).toEqual([200, { status: "degraded" }]);
    await late.stop();
  });

  test("what was taken does not pass its point of no return, can be cancelled, and is never sent then", async ({
    open: opened,
  }) => {
    const scene = await sceneOf(await opened(open));
    const { world, late, node, caller, taken } = scene;
    await late.start();
    await live(world.clock, 3 * MINUTE);
    expect(await stateOf(scene)).toBe("accepted");
    expect(await late.transaction(caller, taken)).toMatchObject({ status: "pending" });
    expect(await late.cancelTransaction(caller, taken)).toMatchObject({ status: "cancelled" });
    node.serves = world.chain;
    await live(world.clock, MINUTE);
    expect(await late.health()).toMatchObject({ status: "ok", chain: { state: "compared", message: null } });
    expect(node.sent()).toBe(0);
    await late.stop();
  });

  test("once the chain answers, what was held back is sent, once, and completes", async ({
    open: opened,
  }) => {
    const scene = await sceneOf(await opened(open));
    const { world, late, node, caller, taken } = scene;
    await late.start();
    await live(world.clock, MINUTE);
    expect(node.sent()).toBe(0);
    node.serves = world.chain;
    await live(world.clock, 16_000);
    expect(node.sent()).toBe(1);
    for (const slots of [2, 40]) {
      world.chain.advance(slots);
      await live(world.clock, 5_000);
    }
    expect(await late.transaction(caller, taken)).toMatchObject({ status: "completed" });
    expect(node.sent()).toBe(1);
    await late.stop();
  });

  test("no payment is taken, no quote given, and no balance shown; over HTTP that is UPSTREAM_ERROR", async ({
    open: opened,
  }) => {
    const world = await opened(open);
    const caller = await world.caller();
    const alice = world.wallet("carol", { lamports: 1_000_000_000n, usdc: 50_000_000n });
    const { body, quote } = await world.prepareSend(caller, { from: alice, to: alice.address, amount: "1" });
    const { late } = await sceneOf(world);
    await late.start();
    const { key } = await late.issueKey({ accountId: caller.accountId, environment: "test" });
    const handler = createHttpHandler({ service: late, logger: silentLogger });
    const ask = async (method: string, path: string, sent?: object) => {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const init = { method, headers, ...(sent === undefined ? {} : { body: JSON.stringify(sent) }) };
      const answer = await handler.fetch(new Request(`https://pay.example/v1${path}`, init));
      const told = (await answer.json()) as { readonly error?: { readonly code: string } };
      return [answer.status, told.error?.code];
    };
    const amounts = { inputAsset: "USDC", outputAsset: "USDC", amount: "1" };
    const refused = [502, "UPSTREAM_ERROR"];
    expect(await ask("POST", "/transactions", body)).toEqual(refused);
    expect(await ask("POST", "/quotes", amounts)).toEqual(refused);
    expect(await ask("POST", `/quotes/${quote.quoteId}/refresh`)).toEqual(refused);
    expect(await ask("GET", `/balances/${alice.address}`)).toEqual(refused);
    // What is wrong with a request is told all the same, and what the database knows is answered.
    expect(await ask("POST", "/transactions", {})).toEqual([400, "VALIDATION_ERROR"]);
    // modules: webhooks
    for (const path of ["/transactions", "/events", "/webhooks", "/tokens", `/quotes/${quote.quoteId}`]) {
      expect(await ask("GET", path)).toEqual([200, undefined]);
    }
    await late.stop();
  });

  // modules: webhooks
  test("webhooks are registered, and deliveries that wait are made", async ({ open: opened }) => {
    const world = await opened({ ...hooks() });
    const caller = await world.caller();
    receiver.answer(answerWith(500));
    const events = ["transaction.pending"];
    const { body } = await world.service.registerWebhook(caller, { url: receiver.url, events });
    const from = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
    const failed = receiver.nextRequest();
    await world.send(caller, { from, to: world.wallet("bob").address, amount: "1" });
    await failed;
    await world.service.settled();
    await world.service.stop();
    receiver.answer(answerWith(200));
    const late = world.another({ ledger: world.ledgerOf([lateNode().option]) });
    await late.start();
    const url = `${receiver.url}/two`;
    expect((await late.registerWebhook(caller, { url, events })).body.events).toEqual(events);
    const delivered = receiver.nextRequest();
    await live(world.clock, 2 * MINUTE);
    expect((await delivered).path).toBe("/hook");
    await late.settled();
    const { data } = await late.deliveries(caller, body.webhookId);
    expect(data.map(({ status }) => status)).toEqual(["delivered"]);
    await late.stop();
  });

  test("a node that hangs holds up a start for ten seconds", async ({ open: opened }) => {
    const { world, late, node } = await sceneOf(await opened(open), "hangs");
    const began = world.clock.now();
    await living(world.clock, late.start());
    expect(world.clock.now() - began).toBeLessThanOrEqual(11_000);
    expect((await living(world.clock, late.health())).chain.state).toBe("silent");
    node.serves = world.chain;
    await live(world.clock, 2 * MINUTE);
    // No block is made: the same bytes are sent again and again.
    expect(node.sent()).toBeGreaterThan(0);
    await late.stop();
  });

  test("the other processes of this database go on", async ({ open: opened }) => {
    const { world, late, node, caller, taken } = await sceneOf(await opened(open));
    await late.start();
    const other = world.another();
    await other.start();
    await live(world.clock, DELAY_MS + 5_000);
    world.chain.advance(40);
    await live(world.clock, 5_000);
    expect(await late.transaction(caller, taken)).toMatchObject({ status: "completed" });
    expect(node.sent()).toBe(0);
    await other.stop();
    await late.stop();
  });

  test("a stop ends the waiting, before a node that hangs answers", async ({ open: opened }) => {
    const { world, late, node } = await sceneOf(await opened(open));
    {
      await using service = late;
      await service.start();
      node.serves = "hangs";
      await live(world.clock, 20_000);
    }
    node.serves = world.chain;
    // The ledger is open still, and gives up what was asked of it in its own time.
    await live(world.clock, MINUTE);
    const asked = node.asked.length;
    await live(world.clock, 3 * MINUTE);
    expect(node.asked.length).toBe(asked);
    expect(node.sent()).toBe(0);
    // And it can be started again.
    await late.start();
    await live(world.clock, 1_000);
    expect(node.sent()).toBe(1);
    await late.stop();
  });

  test("stopped while it starts, nothing runs", async ({ open: opened }) => {
    const scene = await sceneOf(await opened(open), "hangs");
    const { world, late, node } = scene;
    const started = late.start();
    await live(world.clock, 1_000);
    await late.stop();
    await started;
    node.serves = world.chain;
    await live(world.clock, 3 * MINUTE);
    expect(await stateOf(scene)).toBe("accepted");
    expect(node.sent()).toBe(0);
  });

  test("keys are judged by the chain that the database belongs to", async ({ open: opened }) => {
    const world = await opened(open);
    const { late, caller } = await sceneOf(world);
    const { accountId } = caller;
    const ofMainnet = await late.issueKey({ accountId, environment: "live" });
    const ofOthers = await late.issueKey({ accountId, environment: "test" });
    await late.start();
    await expect(late.authenticate(`Bearer ${ofMainnet.key}`)).rejects.toMatchObject({
      code: "INVALID_API_KEY",
    });
    expect(await late.authenticate(`Bearer ${ofOthers.key}`)).toMatchObject({ accountId });
    expect(late.inspected.isProduction()).toBe(false);
    await late.stop();
  });

  test("another master secret does not start, and what is sealed meanwhile is sealed with the first", async ({
    open: opened,
  }) => {
    const world = await opened(open);
    const storage = await memoryStorage();
    const ledger = world.ledgerOf([lateNode().option]);
    const other = { version: 1, secret: new Uint8Array(32).fill(8) };
    const first = world.another({ storage, ledger });
    await first.start();
    await first.stop();
    const second = world.another({ storage, ledger, masterSecrets: [other] });
    await expect(second.start()).rejects.toThrow(/^masterSecrets: version 1 is not the secret/);
    await second.stop();
    const third = world.another({ storage, ledger, masterSecrets: [TEST_MASTER_SECRET] });
    await third.start();
    await third.stop();
  });

  test("a chain that answers after the start was refused for its secret binds nothing", async ({
    open: opened,
  }) => {
    const world = await opened(open);
    const storage = await memoryStorage();
    const first = world.another({ storage, ledger: world.ledgerOf([lateNode().option]) });
    await first.start();
    await first.stop();
    let answer = (): void => {};
    const asked = new Promise<void>((resolve) => (answer = resolve));
    const ledger = world.ledgerOf([lateNode().option]);
    const late: Ledger = Object.freeze({
      ...ledger,
      genesisHash: async () => {
        await asked;
        return agreed(world.chain.genesisHash);
      },
      mints: (addresses: Parameters<Ledger["mints"]>[0]) => world.ledger.mints(addresses),
    });
    const other = { version: 1, secret: new Uint8Array(32).fill(8) };
    const second = world.another({ storage, ledger: late, masterSecrets: [other] });
    await expect(living(world.clock, second.start())).rejects.toThrow(/^masterSecrets: version 1/);
    answer();
    await live(world.clock, MINUTE);
    expect(await storage.fact("genesisHash")).toBeNull();
    await second.stop();
    await ledger.close();
  });

  test("a new database is bound to the first chain that answers, and to none before", async ({ world }) => {
    const storage = await memoryStorage();
    const node = lateNode();
    const late = world.another({ storage, ledger: world.ledgerOf([node.option]) });
    await late.start();
    await live(world.clock, MINUTE);
    expect(await storage.fact("genesisHash")).toBeNull();
    expect(late.inspected.isProduction()).toBe(true);
    node.serves = world.chain;
    await live(world.clock, 16_000);
    expect(await storage.fact("genesisHash")).toBe(world.chain.genesisHash);
    expect((await late.health()).status).toBe("ok");
    await late.stop();
  });

  test("a ledger of the host's that is frozen is asked like any other", async ({ world }) => {
    const service = world.another({ ledger: Object.freeze({ ...world.ledger }) });
    await service.start();
    const { address } = world.wallet("dora", { lamports: 1_000_000_000n });
    expect(await service.balances(address)).toMatchObject({ address });
    expect((await service.health()).status).toBe("ok");
    await service.stop();
  });

  test("commands of an operator that need the chain are refused as in an outage", async ({
    open: opened,
  }) => {
    const { world, late, node } = await sceneOf(await opened(open));
    await late.start();
    node.serves = world.chain;
    // It would answer now, and was not compared yet.
    await expect(late.reconcile()).rejects.toThrow(LedgerUnavailable);
    expect((await late.diagnose()).endpoints[0]?.genesisHash).toBe(world.chain.genesisHash);
    await late.stop();
  });
});

describe("E14: another chain answers later", () => {
  test("nothing is ever sent to it, nothing is taken, it is not ready, and it is logged once", async ({
    open: opened,
  }) => {
    const scene = await sceneOf(await opened(open));
    const { world, late, node, errors, caller, taken, pay } = scene;
    await late.start();
    node.serves = elsewhere;
    await live(world.clock, 3 * MINUTE);
    const message = expect.stringMatching(/belongs to the chain with genesis hash .+ answers for/) as string;
    expect(await late.health()).toMatchObject({
      status: "down",
      storage: "ok",
      chain: { state: "refused", message },
    });
    const handler = createHttpHandler({ service: late, health: true });
    expect((await handler.fetch(new Request("https://pay.example/health/ready"))).status).toBe(503);
    expect(errors).toEqual([message]);
    await expect(late.createQuote(caller, quoteOf(pay))).rejects.toThrow(LedgerUnavailable);
    expect(node.asked).not.toContain("getLatestBlockhash");
    expect(node.sent()).toBe(0);
    expect(await stateOf(scene)).toBe("accepted");
    // While it is silent again it is not forgotten what it was.
    node.serves = "refuses";
    await live(world.clock, MINUTE);
    expect((await late.health()).chain.state).toBe("refused");
    expect(await late.cancelTransaction(caller, taken)).toMatchObject({ status: "cancelled" });
    await late.stop();
  });

  test("one that answers at once refuses the start as ever, and nothing runs or is taken afterwards", async ({
    open: opened,
  }) => {
    const scene = await sceneOf(await opened(open), elsewhere);
    const { world, late, node, caller, pay } = scene;
    await expect(late.start()).rejects.toThrow(/belongs to the chain with genesis hash/);
    await live(world.clock, MINUTE);
    expect(await stateOf(scene)).toBe("accepted");
    await expect(late.createQuote(caller, quoteOf(pay))).rejects.toThrow(LedgerUnavailable);
    expect(node.sent()).toBe(0);
    expect(await late.health()).toMatchObject({ status: "down", chain: { state: "refused" } });
    await late.stop();
  });

  test("endpoints of different chains are refused at once and later", async ({ open: opened }) => {
    const { world, node } = await sceneOf(await opened(open));
    const other = lateNode(elsewhere, "other.example");
    const both = [other.option, { url: "http://right.example", fetch: world.chain.fetch }];
    const mixed = world.another({ ledger: world.ledgerOf(both) });
    await expect(mixed.start()).rejects.toThrow(/the endpoints serve different chains/);
    const later = world.another({ ledger: world.ledgerOf([other.option, node.option]) });
    other.serves = "refuses";
    await later.start();
    other.serves = elsewhere;
    node.serves = world.chain;
    await live(world.clock, MINUTE);
    expect(await later.health()).toMatchObject({ status: "down", chain: { state: "refused" } });
    expect(node.sent() + other.sent()).toBe(0);
    await later.stop();
  });

  test("a chain without the mints that were named is refused when it answers, and a new database stays free", async ({
    world,
  }) => {
    const storage = await memoryStorage();
    const node = lateNode();
    const stablecoins = { ...world.mints, USDT: world.wallet("no mint").address };
    const late = world.another({ storage, stablecoins, ledger: world.ledgerOf([node.option]) });
    await late.start();
    node.serves = world.chain;
    await live(world.clock, MINUTE);
    const { chain } = await late.health();
    expect(chain.state).toBe("refused");
    expect(chain.message).toContain("stablecoins.USDT");
    expect(await storage.fact("genesisHash")).toBeNull();
    await late.stop();
  });

  test("U13: a key of the wrong environment is refused before start(), and no key is taken while nothing tells which is wrong", async ({
    world,
  }) => {
    const storage = await memoryStorage();
    const before = world.another({ storage });
    const { accountId } = await before.createAccount({ name: "early", tier: "free" });
    const issued = async (environment: "live" | "test"): Promise<string> =>
      (await before.issueKey({ accountId, environment })).key;
    const [forMainnet, forTests] = [await issued("live"), await issued("test")];
    const accepted = (service: PaymentService): Promise<boolean[]> =>
      Promise.all(
        [forMainnet, forTests].map((key) =>
          service.authenticate(`Bearer ${key}`).then(
            () => true,
            () => false,
          ),
        ),
      );
    expect(await accepted(before)).toEqual([false, false]);
    const named = world.another({ storage, environment: "test" });
    expect(await accepted(named)).toEqual([false, true]);
    expect([before, named].map(({ inspected }) => inspected.isProduction())).toEqual([true, false]);
    const mistaken = world.another({ storage, environment: "live" });
    await expect(mistaken.start()).rejects.toThrow(
      /^environment: the ledger answers for another chain than mainnet, whose keys are "test"$/,
    );
    await before.start();
    expect(await accepted(before)).toEqual([false, true]);
    // The database tells the next process, before its start.
    expect(await accepted(world.another({ storage }))).toEqual([false, true]);
    await before.stop();
  });

  test("a test key does not open a database of mainnet while its chain is silent", async ({ world }) => {
    const storage = await memoryStorage();
    await storage.commit([
      { writes: [{ table: "facts", insert: { id: "genesisHash", value: MAINNET_GENESIS } }] },
    ]);
    const late = world.another({ storage, ledger: world.ledgerOf([lateNode().option]) });
    const { accountId } = await late.createAccount({ name: "of mainnet", tier: "free" });
    const { key } = await late.issueKey({ accountId, environment: "test" });
    await late.start();
    await expect(late.authenticate(`Bearer ${key}`)).rejects.toMatchObject({ code: "INVALID_API_KEY" });
    expect(late.inspected.isProduction()).toBe(true);
    await late.stop();
  });
});

function quoteOf({ from, to, amount }: Send) {
  const recipients = [{ address: to, amount }];
  return { inputAsset: "USDC", outputAsset: "USDC", amount, sender: from.address, recipients };
}
