/** A process dies while it announces, and another one goes on: each webhook is told of each notice once, and in order. */
// modules: webhooks
import { expect } from "vitest";
import { webhookOf } from "../../contracts/storage/samples.ts";
import { turns } from "../../kit/engine-world.ts";
import { mortalProcess, type Death } from "../../kit/mortal.ts";
import { units } from "../../kit/money.ts";
import type { ServiceFixture } from "../../kit/service-fixture.ts";
import { serviceTest as test } from "../../kit/service-test.ts";

const SOL = 1_000_000_000n;
const PASS_MS = 5_000;

/** So many webhooks hear of each event: those of the first are a task's to begin. */
const LISTENERS = [
  ["transaction.pending", 4],
  ["transaction.confirmed", 2],
  ["transaction.completed", 3],
] as const;

async function register({ storage, clock }: ServiceFixture, accountId: string): Promise<void> {
  for (let index = 0; index < 4; index += 1) {
    const events = LISTENERS.filter(([, count]) => index < count).map(([event]) => event);
    const url = "https://hooks.example/";
    const webhook = webhookOf(`wh_${index}`, { accountId, url, events, createdAt: clock.now() });
    await storage.commit([{ writes: [{ table: "webhooks", insert: webhook }] }]);
  }
}

interface Begun {
  readonly event: string | undefined;
  /** The event whose delivery it waits for, or was attempted before it began. */
  readonly follows: string | undefined;
}

/** What is begun for each webhook. No delivery is older than the one that it waits for. */
async function begun({ storage }: ServiceFixture, transactionId: string) {
  const deliveries = await storage.deliveries(transactionId);
  const notices = new Map((await storage.notices(transactionId)).map(({ id, event }) => [id, event]));
  const events = new Map(deliveries.map(({ id, noticeId }) => [id, notices.get(noticeId)]));
  const told: Record<string, Begun[]> = {};
  const newest: Record<string, string> = {};
  /** Whether its first attempt was over by this time. */
  const isAttempted = async (delivery: string, at: number): Promise<boolean> =>
    (await storage.deliveryAttempts(delivery)).some(
      ({ startedAt, durationMs }) => startedAt + durationMs <= at,
    );
  for (const { id, webhookId } of deliveries) {
    const { snapshot = "", createdAt = 0 } = (await storage.load(id)) ?? {};
    const { context } = JSON.parse(snapshot) as { readonly context: { readonly follows: string | null } };
    const before = context.follows === null ? null : await storage.load(context.follows);
    expect(before?.createdAt ?? 0).toBeLessThanOrEqual(createdAt);
    const previous = newest[webhookId] ?? "";
    const isOver = before === null && (await isAttempted(previous, createdAt));
    const follows = events.get(isOver ? previous : (before?.id ?? ""));
    (told[webhookId] ??= []).push({ event: events.get(id), follows });
    newest[webhookId] = id;
  }
  return told;
}

const deaths = Array.from({ length: 6 }, (_, index) => index + 1).flatMap((nth) =>
  (["before", "after"] as const).map((moment): Death => ({ method: "commit", nth, moment })),
);

test.for(
  deaths.map((death) => [`${death.moment} its commit ${"nth" in death ? death.nth : 0}`, death] as const),
)(
  "H7, H31: every webhook is told once and in order where a process dies %s",
  async ([, death], { world }) => {
    const caller = await world.caller();
    const alice = world.wallet("alice", { lamports: SOL, usdc: units("20", 6) });
    const bob = world.wallet("bob", { lamports: SOL });
    await register(world, caller.accountId);
    const { transactionId } = await world.send(caller, { from: alice, to: bob.address, amount: "1" });
    await world.service.stop();
    const mortal = mortalProcess(death);
    const dying = world.another({
      storage: mortal.within(world.storage),
      clock: mortal.timedBy(world.clock),
    });
    void dying.start();
    for (let pass = 0; pass < 4; pass += 1) {
      await turns(50);
      world.chain.advance(2);
      world.clock.advance(PASS_MS);
    }
    await turns(50);
    mortal.kill();
    const other = world.another();
    await other.start();
    for (let pass = 0; pass < 20; pass += 1) {
      world.chain.advance(20);
      await turns(50);
      world.clock.advance(PASS_MS);
      await turns(50);
    }
    expect(await other.transaction(caller, transactionId)).toMatchObject({ status: "completed" });
    const told = Object.fromEntries(
      [0, 1, 2, 3].map((index) => {
        const heard = LISTENERS.filter(([, count]) => index < count).map(([event]) => event);
        return [`wh_${index}`, heard.map((event, at) => ({ event, follows: heard[at - 1] }))];
      }),
    );
    expect(await begun(world, transactionId)).toEqual(told);
    await other.stop();
  },
);
