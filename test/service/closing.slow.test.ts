/** A service that is closed in the middle of its work: nothing of it asks the storage any more, and nothing is lost. */
// modules: webhooks
import { describe, expect, test } from "vitest";
import { inspectorHandler } from "../../src/http/create-inspector.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Caller } from "../../src/payments/frame/accounts/caller.ts";
import { silentLogger, systemClock, type Clock } from "../../src/core/runtime.ts";
import type { PaymentService } from "../../src/service/payment-service.ts";
import { everyAdapter, type Adapter } from "../kit/adapters.ts";
import { closingStorage, type ClosingStorage } from "../kit/closing-storage.ts";
import { gate, turns, until } from "../kit/engine-world.ts";
import { startHttpsReceiver, type HttpsReceiver } from "../kit/https-receiver.ts";
import { privateFixture, type PrivateFixture } from "../kit/private-fixture.ts";
import { byDepth, drawn } from "../kit/thorough.ts";
import { ALL_EVENTS } from "../payments/webhooks/webhook-world.ts";

/** So many storage calls after the work has begun the service is closed; later ones meet it at rest. */
const CUTS = byDepth({
  quick: [0, 9, 40],
  ci: [0, 2, 5, 9, 14, 20, 40, 80, 160],
  long: Array.from({ length: 160 }, (_, calls) => calls),
});

interface ClosedWorld {
  readonly fixture: PrivateFixture;
  readonly closing: ClosingStorage;
  readonly receiver: HttpsReceiver;
  readonly caller: Caller;
  readonly transactionId: string;
  /** From now on nodes and receivers take their time, until `answer`. */
  holdBack(): void;
  answer(): void;
  /** Opens the database once more, with a service on it, as another process does. */
  another(): Promise<PaymentService>;
  /** What came to nobody: rejections, and lines of the log after the end. */
  readonly stray: readonly string[];
}

/** A ledger whose answers wait while there is something to wait for. */
function heldBack(ledger: Ledger, held: () => Promise<void> | null): Ledger {
  return new Proxy(ledger, {
    get: (_, name): unknown => {
      const member: unknown = Reflect.get(ledger, name, ledger);
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        const answer: unknown = Reflect.apply(member, ledger, args);
        const wait = held();
        return wait === null || !(answer instanceof Promise) ? answer : wait.then(() => answer);
      };
    },
  });
}

/** A send and a private order under way, with two webhooks. */
async function closedWorld({ make }: Adapter, act: (world: ClosedWorld) => Promise<void>): Promise<void> {
  const stray: string[] = [];
  const onStray = (reason: unknown): void => void stray.push(String(reason));
  process.on("unhandledRejection", onStray).on("uncaughtException", onStray);
  const database = await make();
  const closing = closingStorage(await database.open());
  const answer = gate();
  let held: Promise<void> | null = null;
  const receiver = await startHttpsReceiver({
    script: async ({ method }, response) => {
      if (method === "POST") await answer.opened;
      response.end();
    },
  });
  const loud = (fields: object, line: string): void => {
    if (closing.isClosed()) stray.push(`${line} ${String((fields as { readonly err?: unknown }).err)}`);
  };
  const webhooks = { ca: receiver.ca, allowAddress: (ip: string) => ip === "127.0.0.1" };
  const logger = { ...silentLogger, warn: loud, error: loud };
  const fixture = await privateFixture({ storage: closing.storage, webhooks, logger }, {}, ({ ledger }) =>
    heldBack(ledger, () => held),
  );
  const second = await database.open();
  const next = fixture.another({ storage: second, ledger: fixture.ledger, logger: silentLogger });
  const { service } = fixture;
  try {
    const caller = await fixture.caller();
    for (const path of ["one", "two"]) {
      await service.registerWebhook(caller, { url: `${receiver.url}/${path}`, events: ALL_EVENTS });
    }
    const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
    const { address } = fixture.wallet("bob", { usdc: 1n });
    const { transactionId } = await fixture.send(caller, { from: alice, to: address, amount: "1.5" });
    // modules: private
    await fixture.order(caller, { sender: alice, to: [{ address, amount: "2" }] });
    await act({
      fixture,
      closing,
      receiver,
      caller,
      transactionId,
      stray,
      holdBack: () => void (held = answer.opened),
      answer: answer.open,
      another: async () => {
        await next.start();
        return next;
      },
    });
    await next.stop();
  } finally {
    process.off("unhandledRejection", onStray).off("uncaughtException", onStray);
    await receiver.close();
    await fixture.close();
    await second.close();
    await closing.end();
    await database.destroy();
  }
}

/** What a host, its callers and its screens ask for; resolves when all of it has ended. */
async function askAll(
  service: PaymentService,
  { caller, transactionId }: Pick<ClosedWorld, "caller" | "transactionId">,
  clock: Clock,
): Promise<{ readonly ended: Promise<unknown>; leave(): Promise<void> }> {
  service.subscribe({}, () => {});
  const inspector = inspectorHandler({
    inspected: service.inspected,
    authorize: () => true,
    acts: false,
    clock,
    pace: systemClock,
    log: silentLogger,
  });
  const viewed = await inspector.fetch(new Request("http://127.0.0.1/_inspector/live?page=%2Fhealth"));
  const page = viewed.body?.getReader();
  const ended = Promise.allSettled([
    service.settled(),
    service.health(),
    service.transaction(caller, transactionId, { wait: 25 }),
    service.listTransactions(caller),
    service.operator.attention(),
  ]);
  return { ended, leave: async () => page?.cancel() };
}

describe.each(drawn(everyAdapter, "closing a service"))("a service closed on $name", (adapter) => {
  test.each(CUTS)(
    "L9: %i calls after deliveries, looks and requests have begun: it asks nothing any more, and another goes on at once",
    (cut) =>
      closedWorld(adapter, async (world) => {
        const { fixture, closing, caller, transactionId } = world;
        const { service, chain, clock } = fixture;
        const stopped = gate();
        const { ended, leave } = await askAll(service, world, clock);
        closing.after(cut, () => void service.stop({ timeoutMs: 0 }).then(stopped.open));
        chain.advance(40);
        world.holdBack();
        await turns(100);
        clock.advance(1_300);
        await turns(100);
        closing.now();
        await turns(20);
        // A storage, or a node, that is not heard of again holds up no stop.
        clock.advance(10_000);
        await stopped.opened;
        await closing.close();

        const next = await world.another();
        world.answer();
        for (let second = 0; second < 120; second++) {
          clock.advance(1_000);
          await turns(5);
        }
        await ended;
        expect(closing.late).toEqual([]);
        expect(world.stray).toEqual([]);
        chain.advance(40);
        await until(async () => {
          clock.advance(1_000);
          return (await next.transaction(caller, transactionId)).status === "completed";
        });
        await leave();
      }),
  );
});
