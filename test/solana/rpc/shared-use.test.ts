/** Several processes with one provider: together they keep to its rate, and leave it alone when it said so to one of them. */
import { describe, expect, test } from "vitest";
import type { ExchangeUse, Ledger, OthersUse } from "../../../src/ledger/ledger.ts";
import { silentLogger } from "../../../src/runtime.ts";
import { solanaLedger } from "../../../src/solana/index.ts";
import { virtualClock, type VirtualClock } from "../../kit/virtual-clock.ts";
import { httpError, result, scriptedNode, turns, type Reply, type ScriptedNode } from "../scripted-node.ts";

const PROVIDER = "https://provider.example/?api-key=k3y";
const STEP_MS = 50;
const absent = result({ context: { slot: 7 }, value: [null] });

/** All that processes tell each other, each told once to each other. */
function meetingPlace(clock: VirtualClock): { readonly told: OthersUse[]; of(process: string): ExchangeUse } {
  const told: OthersUse[] = [];
  return {
    told,
    of: (process) => {
      let read = 0;
      return async (own) => {
        told.push({ ...own, process, at: clock.now() });
        const news = told.slice(read).filter((each) => each.process !== process);
        read = told.length;
        // When a report was written is not known for sure: it counts from when it is read.
        return news.map((each) => ({ ...each, at: clock.now() }));
      };
    },
  };
}

interface Process {
  readonly node: ScriptedNode;
  readonly ledger: Ledger;
  /** Questions that wait for their turn. */
  waiting: number;
}

/** Processes with the same endpoint, each counting what it sends there. */
async function processes(
  clock: VirtualClock,
  count: number,
  { requestsPerSecond, reply = absent }: { readonly requestsPerSecond?: number; readonly reply?: Reply },
): Promise<{ readonly all: readonly Process[]; readonly told: readonly OthersUse[] }> {
  const place = meetingPlace(clock);
  const all = Array.from({ length: count }, (_, index): Process => {
    const node = scriptedNode(reply);
    const limit = requestsPerSecond === undefined ? {} : { requestsPerSecond };
    const endpoints = [{ url: PROVIDER, fetch: node.fetch, ...limit }];
    const ledger = solanaLedger({ endpoints, clock, logger: silentLogger });
    ledger.shareUse?.(place.of(`process ${index}`));
    return { node, ledger, waiting: 0 };
  });
  // What is loaded with the first question takes real time, and none of the clock.
  for (const { ledger } of all) await ledger.statuses(["one"]);
  return { all, told: place.told };
}

/** Keeps so many questions of a process waiting. */
function keepAsking(process: Process, atOnce: number): void {
  while (process.waiting < atOnce) {
    process.waiting += 1;
    const over = (): void => void (process.waiting -= 1);
    void process.ledger.statuses(["one"]).then(over, over);
  }
}

/** Lets a second pass, in which each process asks as often as it may; how many calls each made. */
async function second(
  clock: VirtualClock,
  asking: readonly (readonly [Process, number])[],
): Promise<number[]> {
  const before = asking.map(([{ node }]) => node.calls.length);
  for (let passed = 0; passed < 1_000; passed += STEP_MS) {
    for (const [process, atOnce] of asking) keepAsking(process, atOnce);
    clock.advance(STEP_MS);
    await turns(4);
  }
  return asking.map(([{ node }], index) => node.calls.length - (before[index] ?? 0));
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

describe.each([2, 4])("%i processes that ask as often as they may", (count) => {
  test("keep to the provider's rate together, from the third second on", async () => {
    const clock = virtualClock();
    const { all } = await processes(clock, count, { requestsPerSecond: 40 });
    const asking = all.map((process) => [process, 8] as const);
    const seconds: number[] = [];
    for (let index = 0; index < 12; index += 1) seconds.push(sum(await second(clock, asking)));
    // Before they know of each other: a burst and a second's worth for each, as a process alone has them.
    expect(Math.max(...seconds.slice(0, 2))).toBeLessThanOrEqual(2 * 40 * count);
    for (const calls of seconds.slice(3)) expect(calls).toBeLessThanOrEqual(40 * 1.1);
    expect(sum(seconds.slice(3)) / 9).toBeGreaterThan(40 * 0.8);
  });
});

test("a process leaves to the others what they use, and takes what they do not", async () => {
  const clock = virtualClock();
  const { all } = await processes(clock, 2, { requestsPerSecond: 40 });
  const [busy, modest] = all;
  if (busy === undefined || modest === undefined) throw new Error("two processes");
  const seconds: number[][] = [];
  for (let index = 0; index < 12; index += 1) {
    void modest.ledger.statuses(["one"]);
    seconds.push(await second(clock, [[busy, 8]]));
  }
  const last = seconds.slice(6).map(([calls = 0]) => calls);
  for (const calls of last) expect(calls).toBeGreaterThanOrEqual(36);
  for (const calls of last) expect(calls).toBeLessThanOrEqual(40);
});

test("what a process that has ended used is free again some seconds later", async () => {
  const clock = virtualClock();
  const { all } = await processes(clock, 2, { requestsPerSecond: 40 });
  const [one, other] = all;
  if (one === undefined || other === undefined) throw new Error("two processes");
  const asking = all.map((process) => [process, 8] as const);
  for (let index = 0; index < 6; index += 1) await second(clock, asking);
  await other.ledger.close();
  for (let index = 0; index < 7; index += 1) await second(clock, [[one, 8]]);
  expect(sum(await second(clock, [[one, 8]]))).toBeGreaterThanOrEqual(38);
});

test("a provider that asks one process to be left alone is left alone by all, and asked again by all when that is over", async () => {
  const clock = virtualClock();
  const place = meetingPlace(clock);
  const refusing = scriptedNode(httpError(429, { "retry-after": "30" }), absent);
  const willing = scriptedNode(absent);
  const [one, other] = [refusing, willing].map(({ fetch }, index) => {
    const ledger = solanaLedger({ endpoints: [{ url: PROVIDER, fetch, requestsPerSecond: 40 }], clock });
    ledger.shareUse?.(place.of(`process ${index}`));
    return ledger;
  });
  if (one === undefined || other === undefined) throw new Error("two processes");
  await expect(one.statuses(["one"])).rejects.toThrow("HTTP 429");
  expect(await other.statuses(["one"])).toEqual([null]);
  clock.advance(1_000);
  await turns();
  clock.advance(1_000);
  await turns();
  // It learns of it with its next exchange.
  await other.statuses(["one"]).catch(() => undefined);
  clock.advance(1_000);
  await turns();
  await expect(other.statuses(["one"])).rejects.toThrow("asked to be left alone");
  // What the other one was told it does not pass on: else both would keep each other silent without an end.
  for (let index = 0; index < 30; index += 1) {
    clock.advance(1_000);
    await turns();
  }
  expect(await other.statuses(["one"])).toEqual([null]);
  expect(await one.statuses(["one"])).toEqual([null]);
});

test("a process that was idle leaves a provider alone for what is left of a rest, not for what there was at its beginning", async () => {
  const clock = virtualClock();
  const place = meetingPlace(clock);
  const refusing = scriptedNode(httpError(429, { "retry-after": "30" }), absent);
  const willing = scriptedNode(absent);
  const [one, idle] = [refusing, willing].map(({ fetch }, index) => {
    const ledger = solanaLedger({ endpoints: [{ url: PROVIDER, fetch, requestsPerSecond: 40 }], clock });
    ledger.shareUse?.(place.of(`process ${index}`));
    return ledger;
  });
  if (one === undefined || idle === undefined) throw new Error("two processes");
  await expect(one.statuses(["one"])).rejects.toThrow("HTTP 429");
  for (let index = 0; index < 20; index += 1) {
    clock.advance(1_000);
    await turns();
  }
  // It begins to ask, and reads twenty reports at once.
  expect(await idle.statuses(["one"])).toEqual([null]);
  clock.advance(1_000);
  await turns();
  await expect(idle.statuses(["one"])).rejects.toThrow("asked to be left alone");
  for (let index = 0; index < 10; index += 1) {
    clock.advance(1_000);
    await turns();
  }
  expect(await idle.statuses(["one"])).toEqual([null]);
});

test("without a limit and without a rest nothing is told; what is told names no secret", async () => {
  const clock = virtualClock();
  const unlimited = await processes(clock, 1, {});
  clock.advance(1_000);
  await turns();
  expect(unlimited.told).toEqual([]);
  const limited = await processes(clock, 1, { requestsPerSecond: 40 });
  for (let index = 0; index < 5; index += 1) {
    clock.advance(1_000);
    await turns();
  }
  // Once, and no more when there is nothing to tell.
  expect(limited.told).toHaveLength(1);
  expect(JSON.stringify(limited.told)).not.toMatch(/k3y|provider/);
});

test("others who cannot be reached stop no call", async () => {
  const clock = virtualClock();
  const node = scriptedNode(absent);
  const ledger = solanaLedger({
    endpoints: [{ url: PROVIDER, fetch: node.fetch, requestsPerSecond: 40 }],
    clock,
  });
  ledger.shareUse?.(async () => await Promise.reject(new Error("the database is down")));
  for (let index = 0; index < 5; index += 1) {
    expect(await ledger.statuses(["one"])).toEqual([null]);
    clock.advance(1_000);
    await turns();
  }
});
