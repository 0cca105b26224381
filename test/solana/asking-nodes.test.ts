/** How the ledger behaves towards nodes that refuse, hang, lie or garble. The nodes here are scripted functions. */
import { expect, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import { LedgerUnavailable, type Ledger } from "../../src/ledger/ledger.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import {
  brokenConnection,
  elapsed,
  httpError,
  result,
  rpcError,
  scriptedNode,
  turns,
  type Reply,
  type ScriptedNode,
} from "./scripted-node.ts";

const OWNER = "Vote111111111111111111111111111111111111111" as Address;

const genesis = result("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d");

/** The answer that nothing stands at one address. */
const absent = result({ context: { slot: 7 }, value: [null] });

test("a broken connection is tried again", async () => {
  const node = scriptedNode(brokenConnection, httpError(503), genesis);
  const clock = virtualClock();
  const ledger = solanaLedger({ endpoints: [{ url: "http://node.example", fetch: node.fetch }], clock });
  const answer = ledger.genesisHash();
  await elapsed(clock, answer);
  expect(await answer).toBe("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d");
  expect(node.calls).toHaveLength(3);
});

test("E10: a node that only fails makes LedgerUnavailable, soon and without its URL, its keys or its words", async () => {
  for (const failure of [
    brokenConnection,
    httpError(503),
    httpError(403),
    rpcError(-32005),
    rpcError(-32602),
  ]) {
    const node = scriptedNode(failure);
    const clock = virtualClock();
    const url = "https://node.example/v1/k3y?api-key=k3y";
    const ledger = solanaLedger({ endpoints: [{ url, fetch: node.fetch }], clock });
    const answer = ledger.balances(OWNER);
    expect(await elapsed(clock, answer)).toBeLessThan(5_000);
    const error: unknown = await answer.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LedgerUnavailable);
    const everything = `${String(error)} ${(error as Error).stack ?? ""} ${JSON.stringify(error)}`;
    expect(everything).toContain("node.example");
    expect(everything).not.toContain("k3y");
    expect((error as Error).cause).toBeUndefined();
  }
});

test("429 is not asked again before Retry-After has passed, in seconds or as a date", async () => {
  const clock = virtualClock();
  for (const retryAfter of ["2", new Date(clock.now() + 4_000).toUTCString()]) {
    const node = scriptedNode(httpError(429, { "retry-after": retryAfter }), absent);
    const ledger = solanaLedger({ endpoints: [{ url: "http://node.example", fetch: node.fetch }], clock });
    const answer = ledger.mints([OWNER]);
    const ms = await elapsed(clock, answer);
    expect(ms).toBeGreaterThanOrEqual(1_900);
    expect(ms).toBeLessThan(2_500);
    expect(await answer).toEqual([null]);
  }
});

test("a Retry-After longer than a caller would wait is told at once and kept, for a minute at most", async () => {
  const node = scriptedNode(httpError(429, { "retry-after": "86400" }), absent);
  const clock = virtualClock();
  const ledger = solanaLedger({ endpoints: [{ url: "http://node.example", fetch: node.fetch }], clock });
  await expect(ledger.mints([OWNER])).rejects.toThrow("HTTP 429");
  await expect(ledger.mints([OWNER])).rejects.toThrow("asked to be left alone");
  expect(node.calls).toHaveLength(1);
  clock.advance(60_000);
  expect(await ledger.mints([OWNER])).toEqual([null]);
});

test("one question waits four seconds in all, however often it is told to come back", async () => {
  const node = scriptedNode(httpError(429, { "retry-after": "3" }));
  const clock = virtualClock();
  const ledger = solanaLedger({ endpoints: [{ url: "http://node.example", fetch: node.fetch }], clock });
  const asked = ledger.mints([OWNER]);
  expect(await elapsed(clock, asked)).toBeLessThanOrEqual(4_000);
  await expect(asked).rejects.toBeInstanceOf(LedgerUnavailable);
  expect(node.calls).toHaveLength(2);
});

test("an endpoint's rate is kept: a second's worth at once, the rest spread, too many told at once", async () => {
  const node = scriptedNode(absent);
  const clock = virtualClock();
  const ledger = solanaLedger({
    endpoints: [{ url: "http://node.example", fetch: node.fetch, requestsPerSecond: 10 }],
    clock,
  });
  const ask = (index: number): Promise<unknown> => ledger.statuses([String(index)]);
  const asked = Array.from({ length: 30 }, (_, index) => ask(index));
  await turns();
  expect(node.calls).toHaveLength(10);
  const ms = await elapsed(clock, Promise.all(asked));
  expect(ms).toBeGreaterThanOrEqual(2_000);
  expect(ms).toBeLessThan(2_200);
  const tooMany = Promise.allSettled(Array.from({ length: 100 }, (_, index) => ask(index)));
  await elapsed(clock, tooMany);
  const refused = (await tooMany).filter(({ status }) => status === "rejected");
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(70);
});

test("N9: an odd answer of one node is asked again: -32602, HTML, an empty body, a wrong shape", async () => {
  const odd: Reply[] = [
    rpcError(-32602),
    () => new Response("<html>"),
    () => new Response(""),
    result({ context: { slot: 7 }, value: "none" }),
  ];
  for (const answer of odd) {
    const node = scriptedNode(answer, absent);
    const clock = virtualClock();
    const ledger = solanaLedger({ endpoints: [{ url: "http://node.example", fetch: node.fetch }], clock });
    const asked = ledger.mints([OWNER]);
    expect(await elapsed(clock, asked)).toBeLessThan(1_000);
    expect(await asked).toEqual([null]);
    expect(node.calls).toHaveLength(2);
    await ledger.close();
  }
});

test("N9: another chain's answer from one node of a pool is asked again, at the start and later", async () => {
  const other = result("EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG");
  const ledgerOf = (...nodes: readonly ScriptedNode[]): Ledger =>
    solanaLedger({
      endpoints: nodes.map(({ fetch }, index) => ({ url: `http://node${index}.example`, fetch })),
      clock: virtualClock(),
    });
  const odd = scriptedNode(other, genesis);
  const atStart = ledgerOf(scriptedNode(genesis), odd);
  expect(await atStart.genesisHash()).toBe("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d");
  expect(odd.calls).toHaveLength(2);
  const later = ledgerOf(
    scriptedNode(genesis, httpError(403)),
    scriptedNode(httpError(403), other, genesis, absent),
  );
  await later.genesisHash();
  expect(await later.mints([OWNER])).toEqual([null]);
  await Promise.all([atStart.close(), later.close()]);
});

test("N9: a node that is behind, and a provider that is asked too often, are not ill", async () => {
  for (const [failure, isIll] of [
    [rpcError(-32016), false],
    [rpcError(-32004), false],
    [rpcError(-32602), false],
    [rpcError(429), false],
    [httpError(429), false],
    [httpError(413), false],
    [rpcError(-32005), true],
    [rpcError(-32603), true],
    [httpError(503), true],
    [() => new Response("<html>"), true],
  ] as const) {
    const warned: string[] = [];
    const node = scriptedNode(failure);
    const clock = virtualClock();
    const logger = { ...silentLogger, warn: (_: object, message: string) => void warned.push(message) };
    const ledger = solanaLedger({
      endpoints: [{ url: "http://node.example", fetch: node.fetch }],
      clock,
      logger,
    });
    for (let count = 0; count < 3; count += 1) {
      const asked = ledger.statuses([String(count)]).catch(() => undefined);
      await elapsed(clock, asked);
    }
    expect(warned.length > 0).toBe(isIll);
    await ledger.close();
  }
});

test("a closed ledger asks nobody, and a pause of one that is being closed ends at once", async () => {
  const node = scriptedNode(httpError(503));
  const ledger = solanaLedger({
    endpoints: [{ url: "http://node.example", fetch: node.fetch }],
    clock: virtualClock(),
  });
  const asked = ledger.mints([OWNER]);
  while (node.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  asked.catch(() => undefined);
  await ledger.close();
  await expect(asked).rejects.toThrow("the ledger is closed");
  const calls = node.calls.length;
  await expect(ledger.mints([OWNER])).rejects.toBeInstanceOf(LedgerUnavailable);
  expect(node.calls).toHaveLength(calls);
});

test("wrong options are listed all at once with their paths, and no URL is repeated", () => {
  expect(() => solanaLedger({ endpoints: [] })).toThrow("endpoints: expected at least one endpoint");
  const endpoints = [
    "k3y",
    { url: "wss://node.example/k3y" },
    { url: "http://node.example", requestsPerSecond: 0 },
  ];
  const make = (): unknown => solanaLedger({ endpoints, clock: {} as never });
  for (const path of ["endpoints.0.url", "endpoints.1.url", "endpoints.2.requestsPerSecond", "clock"]) {
    expect(make).toThrow(`- ${path}: `);
  }
  expect(make).not.toThrow("k3y");
});
