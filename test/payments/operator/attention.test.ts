/** What needs a person: found where it is stored, told once over all processes, and once when it is over. */
// modules: private
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { uncountedTokens, notedMatters } from "../../../src/payments/private/order-matters.ts";
import {
  createMatterLookup,
  sourcesOfThisProcess,
  type AttentionSourceParts,
} from "../../../src/payments/operator/attention/list-matters.ts";
import type { AttentionSource, FoundMatter } from "../../../src/payments/frame/acts/matter.ts";
import { SightingList } from "../../../src/payments/operator/attention/sighting-list.ts";
import {
  MatterReportLoop,
  type AttentionChange,
  type AttentionListener,
} from "../../../src/payments/operator/attention/matter-report-loop.ts";
import { keypairSigner } from "../../../src/ledger/sign-transaction.ts";
import { assetsWith, MAINNET_STABLECOINS } from "../../../src/payments/frame/assets/assets.ts";
import { noteMatter } from "../../../src/payments/private/noted-matters.ts";
import { silentLogger } from "../../../src/core/runtime.ts";
import type { ClaimedTask } from "../../../storage/storage.ts";
import type { PaymentStorage, PaymentWrite } from "../../../src/payments/payment-storage.ts";
import { fullRows } from "../../contracts/storage/rows.ts";
import { taskOf } from "../../contracts/storage/samples.ts";
import { recorder } from "../../core/recorder.ts";
import { adapters } from "../../kit/adapters.ts";
import { solAt150 } from "../../kit/money.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";
import { drawn } from "../../kit/thorough.ts";
import { heard as asHint } from "../../../src/ledger/heard.ts";
import { closeWorlds, intakeWorld, type IntakeWorld } from "./intake-world.ts";
import { BY } from "../../kit/by.ts";
import { addressNamed, holdOf, strayOf } from "../private/stored-order.ts";

closeWorlds();

const HALF_MINUTE = 30_000;
const assets = assetsWith(MAINNET_STABLECOINS);

async function put(storage: PaymentStorage, ...writes: readonly PaymentWrite[]): Promise<void> {
  const [result] = await storage.commit([{ writes }]);
  expect(result).toEqual({ ok: true });
}

const openHold = holdOf("tx_held", "screening");
const heldOrder: PaymentWrite = { table: "holds", insert: openHold };

/** Processes that take what is due, one task each, and end. */
async function ghosts(
  { storage, service, clock }: IntakeWorld,
  maxCrashes = 9,
): Promise<readonly ClaimedTask[]> {
  const taken: ClaimedTask[] = [];
  const none = { steps: 0, free: 0, limited: 0 };
  for (const queue of ["steps", "free", "limited"]) {
    for (let found = true; found;) {
      const [task] = await storage.claim({
        ...none,
        [queue]: 1,
        holder: `ghost ${taken.length}`,
        now: clock.now(),
        leaseMs: 1_000,
        maxCrashes,
        workflows: service.workflows.map(({ key }) => key),
      });
      found = task !== undefined;
      if (task !== undefined) taken.push(task);
    }
  }
  return taken;
}

/** A send whose broadcast was set aside; the service is stopped. */
async function deadBroadcast(world: IntakeWorld): Promise<{ transactionId: string; accountId: string }> {
  const caller = await world.caller();
  await world.service.stop();
  const { transactionId } = await world.send(caller, {
    from: world.alice,
    to: world.bob.address,
    amount: "5",
  });
  await ghosts(world);
  world.clock.advance(1_001);
  await ghosts(world);
  world.clock.advance(1_001);
  await ghosts(world, 1);
  return { transactionId, accountId: caller.accountId };
}

describe.each(drawn(adapters, "attention"))("on $name", (adapter) => {
  test("a dead letter is listed with its transaction, retried by command, and done by the next service", async () => {
    const world = await intakeWorld(adapter);
    const { transactionId, accountId } = await deadBroadcast(world);
    const { operator } = world.service;
    const matters = await operator.attention();
    expect(matters[0]).toMatchObject({
      kind: "dead_letter",
      transactionId,
      accountId,
      actions: ["retry", "drop"],
      since: new Date(world.clock.now()).toISOString(),
    });
    expect(await world.service.health()).toMatchObject({ attention: matters.length });
    for (const { id } of matters) {
      expect(await operator.resolve(id, { action: "retry" }, BY)).toMatchObject({ id, state: "done" });
    }
    expect(await operator.attention()).toEqual([]);
    // Nobody was at work: the process that was told has ended, another does it.
    const next = world.another();
    await next.start();
    await next.settled();
    world.chain.advance(2);
    await next.settled();
    world.chain.advance(40);
    await next.settled();
    expect((await world.storage.transaction(transactionId))?.transaction.status).toBe("completed");
    await next.stop();
    expect((await operator.auditLog()).map(({ act }) => act)).toEqual(matters.map(() => "retry"));
  });

  test("a dead letter that is dropped is gone, and of two operators one drops it", async () => {
    const world = await intakeWorld(adapter);
    await deadBroadcast(world);
    const [first] = await world.service.operator.attention();
    const id = first?.id ?? "";
    const drops = [world.service, world.another()].map(({ operator }) =>
      operator.resolve(id, { action: "drop" }, BY),
    );
    const settled = await Promise.allSettled(drops);
    expect(settled.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(settled.find((each) => each.status === "rejected")?.reason).toMatchObject({
      name: "OperatorRefused",
    });
    expect((await world.service.operator.attention()).map((each) => each.id)).not.toContain(id);
    expect(await world.service.operator.auditLog()).toHaveLength(1);
  });

  test("D3: a task that fails again and again is listed with what it says, and is due at once by command", async () => {
    const world = await intakeWorld(adapter);
    const { storage, clock } = world;
    const caller = await world.caller();
    await world.service.stop();
    await world.send(caller, { from: world.alice, to: world.bob.address, amount: "5" });
    const dueAt = clock.now();
    const failOnce = async (): Promise<void> => {
      for (const { id, token } of await ghosts(world)) {
        await storage.release({ id, token, dueAt: clock.now(), error: "no route to the node" });
      }
    };
    for (let failures = 0; failures < 19; failures++) await failOnce();
    expect(await world.service.operator.attention()).toEqual([]);
    await failOnce();
    const matters = await world.service.operator.attention();
    expect(matters[0]).toMatchObject({
      kind: "failing_task",
      accountId: caller.accountId,
      actions: ["retry"],
      since: new Date(dueAt).toISOString(),
    });
    expect(matters[0]?.message).toMatch(/has failed 20 times, at last with: no route to the node$/);
    const [task] = await storage.tasks({ order: "failing", least: 20, limit: 1 });
    const held = (await ghosts(world)).find(({ id }) => id === task?.id);
    const { operator } = world.service;
    const id = matters.find((each) => each.id.endsWith(task?.id ?? ""))?.id ?? "";
    await expect(operator.resolve(id, { action: "retry" }, BY)).rejects.toThrow(
      `${id}: the task is done, or a process is doing it right now`,
    );
    await storage.release({
      id: held?.id ?? "",
      token: held?.token ?? 0,
      dueAt: clock.now() + 60_000,
      error: "no",
    });
    await operator.resolve(id, { action: "retry" }, BY);
    expect((await ghosts(world)).map((each) => each.id)).toContain(task?.id);
    await expect(operator.resolve(id, { action: "drop" }, BY)).rejects.toThrow(
      `${id} takes retry, and not drop`,
    );
  });

  test("D3: tasks of a workflow that no process knows are one matter, once they are a minute overdue", async () => {
    const world = await intakeWorld(adapter);
    const { storage, clock } = world;
    const dueAt = clock.now();
    const tasks = ["1", "2"].map((id) => ({ task: taskOf(id, { workflow: "future@9", dueAt }) }));
    await storage.commit([{ arms: tasks }]);
    expect(await world.service.operator.attention()).toEqual([]);
    clock.advance(60_000);
    expect(await world.service.operator.attention()).toEqual([
      {
        kind: "orphan",
        id: "orphan:future@9",
        since: new Date(dueAt).toISOString(),
        actions: [],
        message: "tasks of future@9 are due, and no process does them: start one that knows this workflow",
      },
    ]);
  });

  // modules: webhooks
  test("a webhook that did not take its notices is one matter until it is dropped, deleted, or fails again", async () => {
    const world = await intakeWorld(adapter);
    const { storage, clock } = world;
    const { operator } = world.service;
    const caller = await world.caller();
    const webhookId = "wh_1";
    const delivery = (id: string): PaymentWrite => ({
      table: "deliveries",
      insert: { ...fullRows.deliveries, id, webhookId, status: "abandoned", createdAt: clock.now() },
    });
    await put(
      storage,
      {
        table: "webhooks",
        insert: { ...fullRows.webhooks, id: webhookId, accountId: caller.accountId, deletedAt: null },
      },
      ...[delivery("dlv_1"), delivery("dlv_2")],
    );
    const [matter] = await operator.attention();
    expect(matter).toMatchObject({
      kind: "abandoned_webhook",
      id: "abandoned_webhook:wh_1",
      accountId: caller.accountId,
      message: "webhook wh_1 did not take 2 of its notices, which are no longer sent",
    });
    await operator.resolve("abandoned_webhook:wh_1", { action: "drop" }, BY);
    expect(await operator.attention()).toEqual([]);
    await expect(operator.resolve("abandoned_webhook:wh_1", { action: "drop" }, BY)).rejects.toThrow(
      "there is no matter abandoned_webhook:wh_1: see attention()",
    );
    clock.advance(1);
    await put(storage, delivery("dlv_3"));
    expect(await operator.attention()).toHaveLength(1);
    await put(storage, { table: "webhooks", id: webhookId, set: { deletedAt: clock.now() } });
    expect(await operator.attention()).toEqual([]);
  });

  test("matters come oldest first, whichever source they are from", async () => {
    const world = await intakeWorld(adapter);
    const { storage, clock } = world;
    await storage.commit([
      { arms: [{ task: taskOf("o", { workflow: "future@9", dueAt: clock.now() - 90_000 }) }] },
    ]);
    await deadBroadcast(world);
    await put(storage, { table: "holds", insert: { ...openHold, since: clock.now() } });
    const kinds = (await world.service.operator.attention()).map(({ kind }) => kind);
    expect(kinds[0]).toBe("orphan");
    expect(new Set(kinds)).toEqual(new Set(["orphan", "dead_letter", "held"]));
    const times = (await world.service.operator.attention()).map(({ since }) => since);
    expect(times).toEqual(times.toSorted());
  });

  test("the host is told by a service at work within half a minute, and a line stands in the log", async () => {
    const { lines, logger } = recorder();
    const news: AttentionChange[] = [];
    let wake: () => void = () => {};
    const heard = (): Promise<void> =>
      new Promise((resolve) => {
        wake = resolve;
      });
    const world = await intakeWorld(adapter, {
      logger,
      onAttention: (each) => {
        news.push(each);
        wake();
      },
    });
    await put(world.storage, heldOrder);
    const began = heard();
    world.clock.advance(HALF_MINUTE);
    await began;
    expect(news).toMatchObject([{ state: "waiting", matter: { kind: "held", transactionId: "tx_held" } }]);
    await put(world.storage, { table: "holds", id: openHold.id, set: { endedAt: 9 } });
    // A look begins half a minute after the one before has ended.
    const ended = heard();
    while (news.length < 2) {
      world.clock.advance(HALF_MINUTE);
      await Promise.race([ended, turn()]);
    }
    expect(news[1]).toMatchObject({ state: "over", matter: { id: "held:tx_held", actions: [] } });
    const said = lines.find(({ fields }) => fields["kind"] === "held");
    expect(said).toMatchObject({ level: "warn" });
    expect(said?.message).toMatch(/^needs a person: order tx_held is held/);
  });
});

test("watches that nothing was found out about for five minutes are listed, and told to nobody", async () => {
  const clock = virtualClock();
  const late = { landing: 299_999, deposits: 300_000 };
  const watching = () =>
    Object.fromEntries(
      Object.entries(late).map(([kind, lateMs]) => [kind, { watched: 3, oldestMs: lateMs + 1_000, lateMs }]),
    );
  const surroundings = { clock, watching, permittedDeposits: () => null } as unknown as AttentionSourceParts;
  const [source] = sourcesOfThisProcess(surroundings);
  expect(await source?.(9)).toEqual([
    {
      kind: "stuck_watch",
      id: "stuck_watch:deposits",
      since: clock.now() - 301_000,
      actions: [],
      message: expect.stringContaining("3 watches (deposits)") as string,
    },
  ]);
});

test("N18: an endpoint that answers 429 to every read is listed, and told by each process on the database", async () => {
  const [adapter] = adapters;
  if (adapter === undefined) throw new Error("there is an adapter");
  const world = await intakeWorld(adapter);
  const since = world.clock.now();
  const rateLimited = async () => [asHint({ endpoint: "node.example", since })];
  const service = world.another({ ledger: { ...world.ledger, rateLimited } });
  expect(await service.operator.attention()).toMatchObject([
    { kind: "rate_limited", id: "rate_limited:node.example", actions: [] },
  ]);
});

test("a purse that is low is a matter of the room", async () => {
  const [adapter] = adapters;
  if (adapter === undefined) throw new Error("there is an adapter");
  const world = await intakeWorld(adapter);
  expect(await world.service.operator.attention()).toEqual([]);
  const poor = world.wallet("poor sponsor", { lamports: 1_000_000n });
  world.chain.advance(35);
  const service = world.another({
    privateRouting: {
      sponsor: keypairSigner(poor.secretKey),
      treasury: world.treasury.address,
      prices: solAt150(world),
    },
  });
  expect(await service.operator.attention()).toMatchObject([{ kind: "low_purse", actions: [] }]);
  expect(await service.operator.purses()).toMatchObject([{ purse: "sponsor", isLow: true }, {}, {}, {}]);
});

/** What is special about a process that reports. */
interface Reporting {
  readonly host?: AttentionListener;
  readonly on?: PaymentStorage;
  readonly deadlineMs?: number;
  readonly sources?: readonly AttentionSource[];
  readonly sightings?: SightingList;
}

/** Reports of several processes on one storage, over matters that a test names. */
async function reports(adapter: (typeof adapters)[number]) {
  const underTest = await adapter.make();
  const storage = await underTest.open();
  const clock = virtualClock();
  const waiting = new Set<string>();
  const source: AttentionSource = async () =>
    [...waiting].map((key): FoundMatter => ({
      kind: "orphan",
      id: `orphan:${key}`,
      since: null,
      message: key,
      actions: [],
    }));
  const news: string[] = [];
  const onAttention: AttentionListener = ({ state, matter }) => void news.push(`${state} ${matter.message}`);
  const report = ({ host = onAttention, on = storage, deadlineMs = 10_000, ...seen }: Reporting = {}) =>
    new MatterReportLoop({
      storage: on,
      clock,
      log: silentLogger,
      sightings: seen.sightings ?? new SightingList({ storage: on, clock }),
      onAttention: host,
      onAttentionDeadlineMs: deadlineMs,
      lookForMatters: createMatterLookup({ sources: seen.sources ?? [source], storage, clock }),
    });
  onTestFinished(async () => {
    await storage.close();
    await underTest.destroy();
  });
  return { storage, clock, waiting, news, report };
}

/** Processes on one storage, each of which sees what is in its own set, and a command that sees nothing itself. */
async function watchers(adapter: (typeof adapters)[number]) {
  const { storage, clock, news, report } = await reports(adapter);
  const watcher = () => {
    const seen = new Set<string>();
    const sightings = new SightingList({ storage, clock });
    const own: AttentionSource = async () =>
      [...seen].map((key): FoundMatter => {
        const id = `disputed:${key}`;
        return { kind: "disputed", id, since: null, message: key, actions: [] };
      });
    const source = sightings.of("disputed", own);
    const listed = async () => (await source(9)).map(({ message }) => message);
    return { seen, listed, report: report({ sources: [source], sightings }) };
  };
  return { clock, news, watcher };
}

describe.each(drawn(adapters, "telling"))("telling on $name", (adapter) => {
  test("M20: what one process sees is listed by all while one says so, and ends when the last one sees it no more", async () => {
    const { clock, news, watcher } = await watchers(adapter);
    const [one, other, command] = [watcher(), watcher(), watcher()];
    const look = async () => {
      clock.advance(HALF_MINUTE);
      for (const { report } of [one, other]) await report.look();
    };
    one.seen.add("a");
    await look();
    expect([await other.listed(), await command.listed()]).toEqual([["a"], ["a"]]);
    for (let time = 0; time < 5; time += 1) await look();
    expect(await command.listed()).toEqual(["a"]);
    other.seen.add("a");
    await look();
    one.seen.delete("a");
    for (let time = 0; time < 5; time += 1) await look();
    expect([await one.listed(), await command.listed()]).toEqual([["a"], ["a"]]);
    expect(news).toEqual(["waiting a"]);
    other.seen.delete("a");
    expect(await other.listed()).toEqual([]);
    await look();
    expect([await one.listed(), await command.listed()]).toEqual([[], []]);
    expect(news).toEqual(["waiting a", "over a"]);
  });

  test("M20: what a process saw that has ended is over two minutes later", async () => {
    const { clock, news, watcher } = await watchers(adapter);
    const [ended, next] = [watcher(), watcher()];
    ended.seen.add("a");
    await ended.report.look();
    clock.advance(HALF_MINUTE);
    await next.report.look();
    expect(news).toEqual(["waiting a"]);
    clock.advance(3 * HALF_MINUTE);
    await next.report.look();
    expect(await next.listed()).toEqual([]);
    expect(news).toEqual(["waiting a", "over a"]);
  });

  test("two processes that look at once tell a matter once, and its end once; a restart repeats nothing", async () => {
    const { waiting, news, report, clock } = await reports(adapter);
    const [one, other] = [report(), report()];
    waiting.add("a").add("b");
    await Promise.all([one.look(), other.look()]);
    expect(news.toSorted()).toEqual(["waiting a", "waiting b"]);
    clock.advance(HALF_MINUTE);
    await Promise.all([one.look(), other.look(), report().look()]);
    expect(news).toHaveLength(2);
    waiting.delete("a");
    await Promise.all([one.look(), other.look()]);
    await report().look();
    expect(news.slice(2)).toEqual(["over a"]);
    waiting.add("a");
    await Promise.all([one.look(), other.look()]);
    expect(news.slice(3)).toEqual(["waiting a"]);
  });

  test("a host that rejects is told again a minute later, and not of the end of what it never heard of", async () => {
    const { waiting, news, report, clock } = await reports(adapter);
    let isDown = true;
    const flaky = report({
      host: async ({ state, matter }) => {
        if (isDown) throw new Error("the pager is down");
        news.push(`${state} ${matter.message}`);
      },
    });
    waiting.add("a").add("b");
    await flaky.look();
    await flaky.look();
    waiting.delete("b");
    clock.advance(60_000);
    isDown = false;
    await flaky.look();
    expect(news).toEqual(["waiting a"]);
    await flaky.look();
    expect(news).toEqual(["waiting a"]);
  });

  test("P11: 250 addresses that were sent foreign tokens are told once each, and hide neither another matter nor its end", async () => {
    const { storage, clock, news, report } = await reports(adapter);
    const spammed = Array.from({ length: 250 }, (_, index) => `spammed${String(index).padStart(3, "0")}`);
    const stray = (order: string, at: number): PaymentWrite => ({
      table: "deposits",
      insert: strayOf(order, addressNamed(60), { at }),
    });
    const note = async (id: string): Promise<readonly PaymentWrite[]> =>
      noteMatter(storage, { kind: "unexplained", order: { id, accountId: "acct_1" }, since: 900 });
    const drop = (id: string): PaymentWrite => ({
      table: "matters",
      id: `unexplained:${id}`,
      set: { state: "ending", tellingUntil: null },
    });
    const leave = (order: string, at: number): PaymentWrite => ({
      table: "deposits",
      id: strayOf(order, addressNamed(60), { at }).id,
      set: { leftAt: 9_000 },
    });
    await put(storage, ...spammed.map((id, index) => stray(id, 1_000 + index)), ...(await note("spent")));
    const sources = [notedMatters(storage), uncountedTokens(storage, assets)];
    const loop = report({
      sources,
      host: ({ state, matter }) => void news.push(`${state} ${matter.transactionId}`),
    });
    const look = async (): Promise<readonly string[]> => {
      const before = news.length;
      clock.advance(HALF_MINUTE);
      await loop.look();
      return news.slice(before);
    };
    // Not all are told yet, and the end of another matter of their kind is.
    expect(await look()).toEqual(expect.arrayContaining(["waiting spent"]));
    expect(news).toHaveLength(202);
    await put(storage, drop("spent"));
    expect(await look()).toEqual(expect.arrayContaining(["over spent", "waiting spammed249"]));
    const told = ["waiting spent", "over spent", ...spammed.map((id) => `waiting ${id}`)];
    expect(news.toSorted()).toEqual(told.toSorted());
    await put(storage, stray("newest", 2_000), ...(await note("held")));
    expect((await look()).toSorted()).toEqual(["waiting held", "waiting newest"]);
    await put(storage, drop("held"), leave("newest", 2_000), leave("spammed000", 1_000));
    expect((await look()).toSorted()).toEqual(["over held", "over newest", "over spammed000"]);
    expect(await look()).toEqual([]);
  });

  test("a process that ends while it tells is followed by another a minute later", async () => {
    const { waiting, news, report, storage, clock } = await reports(adapter);
    const dying: PaymentStorage = {
      ...storage,
      commit: (items) =>
        items.some(({ writes = [] }) => writes.some((write) => "set" in write))
          ? new Promise(() => {})
          : storage.commit(items),
    };
    waiting.add("a");
    void report({ on: dying }).look();
    const other = report();
    while (news.length === 0) await turn();
    await other.look();
    expect(news).toEqual(["waiting a"]);
    clock.advance(60_000);
    await other.look();
    // At least once: nobody can tell whether the first was heard.
    expect(news).toEqual(["waiting a", "waiting a"]);
    await other.look();
    expect(news).toHaveLength(2);
  });

  test.each([2_000, 10_000, 60_000])(
    "M26: a host that does not answer within its deadline, %s ms, counts as one that rejects, and no other process tells meanwhile",
    async (deadlineMs) => {
      const { waiting, news, report, storage, clock } = await reports(adapter);
      let called: () => void = () => {};
      const wasCalled = new Promise<void>((resolve) => {
        called = resolve;
      });
      waiting.add("a");
      let hasEnded = false;
      const hanging: AttentionListener = () => {
        called();
        return new Promise<void>(() => {});
      };
      const look = report({ host: hanging, deadlineMs })
        .look()
        .finally(() => (hasEnded = true));
      await wasCalled;
      clock.advance(deadlineMs - 1);
      for (let count = 0; count < 20; count++) await turn();
      expect(hasEnded).toBe(false);
      await report({ deadlineMs }).look();
      expect(news).toEqual([]);
      clock.advance(1);
      await look;
      expect((await storage.openMatters(9)).map(({ toldAt }) => toldAt)).toEqual([null]);
    },
  );
});
