/** `service.subscribe()` where several processes share a database: each notice once, those of a transaction in order. */
// modules: webhooks
import { describe, expect, test } from "vitest";
import type { NoticeRecord } from "../../../src/payments/frame/tables/notices.ts";
import type { AnnouncementRecord } from "../../../src/payments/webhooks/tables.ts";
import type { Notice } from "../../../src/payments/frame/notices/notice-body.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { sharedDatabaseTests } from "../../kit/shared-database-test.ts";
import { drawn } from "../../kit/thorough.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";
import { range } from "../../contracts/storage/samples.ts";
import { NoticeFeed } from "../../../src/payments/webhooks/notice-feed.ts";
import { silentLogger } from "../../../src/core/runtime.ts";

describe.each(drawn(sharedDatabaseTests, "notice feed"))("listeners on $name", ({ databaseTest }) => {
  const listenerTest = databaseTest
    .extend("other", async ({ world, handle }, { onCleanup }) => {
      const other = world.another({ storage: await handle() });
      onCleanup(() => other.stop());
      return other;
    })
    .extend("send", async ({ world }) => {
      const caller = await world.caller();
      const from = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 90_000_000n });
      const { address: to } = world.wallet("bob");
      return async (amount: string) => (await world.send(caller, { from, to, amount })).transactionId;
    })
    .extend("second", ({ world, other }) => async () => {
      world.clock.advance(1_000);
      await other.settled();
      await world.service.settled();
    });

  const heardBy = (service: PaymentService): Notice[] => {
    const heard: Notice[] = [];
    service.subscribe({}, (notice) => void heard.push(notice));
    return heard;
  };
  const eventsOf = (heard: readonly Notice[], id: string): string[] =>
    heard.filter(({ transactionId }) => transactionId === id).map(({ event }) => event);
  const ALL = ["transaction.pending", "transaction.confirmed", "transaction.completed"];

  listenerTest(
    "each process tells of all notices, whoever commits them: each once, in the order of the steps",
    async ({ world, other, send, second }) => {
      await other.start();
      const heard = [heardBy(world.service), heardBy(other)];
      await second();
      const ids: string[] = [];
      for (const amount of ["1", "2", "3"]) ids.push(await send(amount));
      for (const slots of [2, 2, 40, 40]) {
        world.chain.advance(slots);
        await second();
      }
      for (const id of ids) for (const each of heard) expect(eventsOf(each, id)).toEqual(ALL);
      for (let round = 0; round < 12; round += 1) await second();
      for (const each of heard) expect(each).toHaveLength(9);
    },
  );

  listenerTest(
    "a process that has not started tells of its own, and of those of others once it runs",
    async ({ world, other, send, second }) => {
      const heard = heardBy(other);
      const early = await send("1");
      await world.finalize();
      await second();
      expect(heard).toEqual([]);
      await other.start();
      await second();
      const late = await send("2");
      await world.finalize();
      await second();
      expect(eventsOf(heard, early)).toEqual([]);
      expect(eventsOf(heard, late)).toEqual(ALL);
    },
  );

  listenerTest(
    "a listener that throws or rejects ends no process, and keeps no other from being told",
    async ({ world, send, second }) => {
      world.service.subscribe({}, () => {
        throw new Error("thrown");
      });
      const rejecting = (): unknown => Promise.reject(new Error("rejected"));
      world.service.subscribe({}, rejecting);
      const heard = heardBy(world.service);
      await second();
      const transactionId = await send("1");
      await world.finalize();
      await second();
      expect(eventsOf(heard, transactionId)).toEqual(ALL);
    },
  );

  listenerTest(
    "one who comes later is told of nothing that was before, and who has gone of nothing more",
    async ({ world, other, send, second }) => {
      await other.start();
      const gone: Notice[] = [];
      const leave = other.subscribe({}, (notice) => void gone.push(notice));
      await second();
      leave();
      await send("1");
      await world.finalize();
      const heard = heardBy(other);
      for (let round = 0; round < 3; round += 1) await second();
      expect([heard, gone]).toEqual([[], []]);
    },
  );
});

describe("rows that come up late, and rows that go", () => {
  const row = (id: string, at = 0): AnnouncementRecord => ({ id, accountId: "acc", at });

  const bodyOf = (id: string): string =>
    JSON.stringify({
      event: "transaction.pending",
      transactionId: `tx of ${id}`,
      timestamp: new Date(7).toISOString(),
      data: {},
    });

  /** A table in which a test puts rows where it likes, and a listener to all of them. */
  function feedOver(rows: AnnouncementRecord[]) {
    const clock = virtualClock(0);
    let reads = 0;
    let readFrom: string | null = null;
    let isAway = false;
    const feed = new NoticeFeed({
      storage: {
        announcement: async (id) => rows.find((each) => each.id === id) ?? null,
        async announcementsInSequence({ order, beyond, limit }) {
          reads += 1;
          readFrom = beyond;
          const sorted = order === "asc" ? rows : rows.toReversed();
          const at = sorted.findIndex(({ id }) => id === beyond);
          return beyond !== null && at === -1 ? [] : sorted.slice(at + 1, at + 1 + limit);
        },
        async noticesById(ids) {
          if (isAway) throw new Error("the database is away");
          return ids.map((id) => ({ id, body: bodyOf(id) }) as NoticeRecord);
        },
      },
      clock,
      log: silentLogger,
    });
    const heard: string[] = [];
    const times: number[] = [];
    const leave = feed.subscribe({}, ({ transactionId, timestamp }) => {
      heard.push(transactionId.slice("tx of ".length));
      times.push(timestamp);
    });
    feed.run();
    const pass = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second += 1) {
        await feed.settled();
        clock.advance(1_000);
        await feed.settled();
      }
    };
    /** This process announces notices. */
    const commit = async (...announced: AnnouncementRecord[]): Promise<void> => {
      rows.push(...announced);
      const writes = announced.map((insert) => ({ table: "announcements" as const, insert }));
      feed.hear(writes);
      await feed.settled();
    };
    const away = (is: boolean): void => void (isAway = is);
    const reading = { reads: () => reads, readFrom: () => readFrom };
    return { feed, clock, heard, times, pass, leave, commit, away, ...reading };
  }

  test("a row that is committed after younger ones is told once, and nothing else again", async () => {
    const rows = ["a", "b"].map((id) => row(id));
    const { heard, pass, feed } = feedOver(rows);
    await pass(2);
    rows.push(row("d"), row("e"));
    await pass(2);
    rows.splice(2, 0, row("c"));
    await pass(20);
    rows.push(row("f"));
    await pass(20);
    expect(heard).toEqual(["d", "e", "c", "f"]);
    await feed.stop(1_000);
  });

  test("what this process announces is told at once, in its place, with the time that its body tells", async () => {
    const rows = [row("before")];
    const { heard, times, pass, feed, commit } = feedOver(rows);
    // Before the first look is done, too.
    await commit(row("early"));
    expect(heard).toEqual(["early"]);
    await pass(2);
    // Another process has announced it, and is first.
    rows.push(row("other"));
    await commit(row("a"), row("b"));
    expect(heard).toEqual(["early", "other", "a", "b"]);
    await pass(20);
    await commit(row("c"));
    await pass(20);
    expect(heard).toEqual(["early", "other", "a", "b", "c"]);
    expect(new Set(times)).toEqual(new Set([7]));
    await feed.stop(1_000);
  });

  test("what this process announces is told where its row comes up long after its place, and once where its answer comes late", async () => {
    const rows = [row("a")];
    const { heard, pass, feed } = feedOver(rows);
    await pass(2);
    rows.push(row("c"));
    await pass(20);
    rows.splice(1, 0, row("b"));
    feed.hear([{ table: "announcements", insert: row("b") }]);
    await pass(20);
    feed.hear([{ table: "announcements", insert: row("c") }]);
    await pass(20);
    expect(heard).toEqual(["c", "b"]);
    await feed.stop(1_000);
  });

  test("what could not be read is told once it can be, and nothing twice", async () => {
    const { heard, pass, feed, commit, away } = feedOver([]);
    await pass(2);
    await commit(row("a"));
    away(true);
    await commit(row("b"));
    await pass(20);
    expect(heard).toEqual(["a"]);
    away(false);
    await pass(20);
    expect(heard).toEqual(["a", "b"]);
    await feed.stop(1_000);
  });

  test("hundreds at once are all told, and those of before the first look are not", async () => {
    const rows = range(1_450).map((index) => row(`old ${index}`));
    const { heard, pass, feed } = feedOver(rows);
    await pass(2);
    rows.push(...range(1_450).map((index) => row(`new ${index}`)));
    await pass(10);
    expect(heard).toEqual(range(1_450).map((index) => `new ${index}`));
    await feed.stop(1_000);
  });

  test("where the last row that was told is removed because of its age, what comes then is told all the same", async () => {
    const rows = [row("a", 1_000)];
    const { heard, pass, feed } = feedOver(rows);
    await pass(10);
    rows.splice(0, 1, row("b", 2_000));
    await pass(3);
    rows.push(row("c", 3_000));
    await pass(10);
    expect(heard).toEqual(["b", "c"]);
    await feed.stop(1_000);
  });

  test("a row that was told a moment before the last row goes is not told again", async () => {
    const rows = [row("a", 1_000)];
    const { heard, pass, feed, commit } = feedOver(rows);
    await pass(10);
    await commit(row("b", 2_000));
    rows.shift();
    await pass(20);
    rows.push(row("c", 3_000));
    await pass(10);
    expect(heard).toEqual(["b", "c"]);
    await feed.stop(1_000);
  });

  test("who comes after one that left during the first look is told of nothing that was between them", async () => {
    const rows = [row("a")];
    const { heard, pass, feed, leave } = feedOver(rows);
    leave();
    await pass(2);
    rows.push(row("between"));
    await pass(20);
    feed.subscribe({}, ({ transactionId }) => void heard.push(transactionId));
    await pass(2);
    rows.push(row("later"));
    await pass(10);
    expect(heard).toEqual(["tx of later"]);
    await feed.stop(1_000);
  });

  test("what was told is not read again and again while a clock that was set back comes to where it was", async () => {
    const { heard, pass, feed, clock, commit, readFrom } = feedOver([]);
    await pass(2);
    await commit(row("a"));
    clock.put(-3_600_000);
    await commit(row("b"));
    await pass(10);
    expect([heard, readFrom()]).toEqual([["a", "b"], "b"]);
    await feed.stop(1_000);
  });

  test("nothing is read while nobody listens or the service has stopped, and one read a second otherwise", async () => {
    const { feed, pass, leave, reads } = feedOver([row("a")]);
    await pass(10);
    expect(reads()).toBeLessThanOrEqual(13);
    leave();
    await pass(2);
    const before = reads();
    await pass(10);
    feed.subscribe({}, () => {});
    await pass(2);
    expect(reads()).toBeGreaterThan(before);
    await feed.stop(1_000);
    const after = reads();
    await pass(10);
    expect(reads()).toBe(after);
  });
});
