/** Calls of the ledger beside the steps of an instance: live only, bounded, without what was asked, and at no cost where nobody looks. */
// modules: private
import { heard } from "../../src/ledger/heard.ts";
import { expect, vi } from "vitest";
import { createHttpHandler } from "../../src/index.ts";
import { createEngine } from "../../src/engine/index.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { LedgerCallHistory } from "../../src/service/ledger-call-history.ts";
import { inFrontOf } from "../../src/service/ledger-in-force.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { job } from "../engine/job.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { sceneTest as test } from "../payments/private/scene-test.ts";

/** What a task of an engine sees of itself. Loaded anew, since what runs is followed in a whole process. */
async function seenByATask({ isFollowed }: { readonly isFollowed: boolean }): Promise<unknown> {
  vi.resetModules();
  const engines = await import("../../src/engine/index.ts");
  const running = await import("../../src/engine/kernel/running-task.ts");
  const jobs = await import("../engine/job.ts");
  if (isFollowed) running.followTasks();
  const seen: unknown[] = [];
  const work = jobs.job(async () => {
    await Promise.resolve();
    seen.push(running.runningTask());
    return { event: { type: "DONE", by: "me" } };
  });
  const engine = engines.createEngine({
    storage: await sqliteStorage(":memory:"),
    workflows: [work],
    logger: silentLogger,
  });
  engine.run();
  await engine.start(work, { id: "j", input: { id: "j" } });
  await engine.waitFor(work, "j", "final");
  await engine.stop();
  return seen[0];
}

test("without an inspector no task is followed and no call is kept", async ({ open }) => {
  const world = await open();
  const { customer, bob, service } = world;
  const from = world.wallet("a sender", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  const { transactionId } = await world.send(customer, { from, to: bob.address, amount: "1.5" });
  await world.finalize();
  expect(service.inspected.calls.since).toBeNull();
  expect(service.inspected.calls.of(transactionId)).toEqual([]);
  expect(await seenByATask({ isFollowed: false })).toBeNull();
});

test("a send tells which effect asked the ledger what, when and how it ended, and nothing of the bytes", async ({
  open,
}) => {
  const world = await open();
  const { customer, bob, service, clock } = world;
  const { fetch } = createHttpHandler({ service, clock, inspector: true });
  const from = world.wallet("a sender", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  const { transactionId } = await world.send(customer, { from, to: bob.address, amount: "1.5" });
  await world.finalize();
  const calls = service.inspected.calls.of(transactionId);
  expect(calls).toContainEqual(
    expect.objectContaining({ method: "broadcast", outcome: "answered", durationMs: 0 }),
  );
  for (const { task } of calls) expect(task.instance).toBe(transactionId);
  const answer = await fetch(new Request(`http://127.0.0.1/_inspector/instance?id=${transactionId}`));
  const page = (await answer.text()).replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
  expect(page).toContain("ledger broadcast for the effect broadcast answered");
  expect(page).toContain("Calls of the ledger are not stored: these are those of this process since");
  const { reads } = service.inspected.payments;
  const signature = (await reads.transaction(transactionId))?.transaction.signature ?? "";
  const [attempt] = await reads.attempts([signature]);
  const bytes = Buffer.from(attempt?.bytes ?? "").toString("base64");
  expect(bytes.length).toBeGreaterThan(100);
  expect(page).not.toContain(bytes);
  expect(JSON.stringify(calls)).not.toContain(bytes.slice(0, 40));
});

test("a task is followed beside others at once, a failure is told by its name, and the oldest calls go first", async () => {
  expect(await seenByATask({ isFollowed: true })).toMatchObject({
    id: expect.stringMatching(/^j:/) as string,
    instance: "j",
    name: "work",
  });
  const clock = virtualClock();
  const calls = new LedgerCallHistory(clock);
  calls.begin();
  class NodeGone extends Error {
    override readonly name = "NodeGone";
  }
  const node = {
    broadcast: async () => {
      throw new NodeGone("http://secret-key@node failed");
    },
    position: async () => heard({ slot: 7, endpoint: "e" }),
    isOnCurve: () => true,
  } as Partial<Ledger> as Ledger;
  const ledger = inFrontOf(node, (method, given) =>
    calls.follow(method, () =>
      (Reflect.get(node, method) as (...asked: readonly unknown[]) => unknown)(...given),
    ),
  );
  // Outside of a task nothing is kept.
  await ledger.position();
  const asked = job(async ({ id }) => {
    if (id === "fails") await ledger.broadcast(Uint8Array.of(1)).catch(() => {});
    for (let count = 0; id === "busy" && count < 10_000; count++) await ledger.position();
    expect(ledger.isOnCurve("a" as never)).toBe(true);
    return { event: { type: "DONE", by: id } };
  });
  const engine = createEngine({
    storage: await sqliteStorage(":memory:"),
    workflows: [asked],
    logger: silentLogger,
  });
  engine.run();
  await engine.start(asked, { id: "fails", input: { id: "fails" } });
  await engine.waitFor(asked, "fails", "final");
  expect(calls.of("fails")).toEqual([
    {
      number: 1,
      method: "broadcast",
      task: expect.objectContaining({
        id: expect.stringMatching(/^fails:/) as string,
        name: "work",
      }) as unknown,
      at: clock.now(),
      durationMs: 0,
      outcome: "NodeGone",
    },
  ]);
  await engine.start(asked, { id: "busy", input: { id: "busy" } });
  await engine.waitFor(asked, "busy", "final");
  await engine.stop();
  expect(calls.of("fails")).toEqual([]);
  expect(calls.of("busy")).toHaveLength(10_000);
});
