/** Which of several endpoints is asked: well before failing, up to date before lagging, and how one comes back. */
import { fatesOf } from "../kit/fates.ts";
import { expect, test } from "vitest";
import type { Address } from "../../src/core/address.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { solanaLedger, type EndpointOptions } from "../../src/solana/index.ts";
import type { Logger } from "../../src/core/runtime.ts";
import { anAttempt } from "../kit/attempts.ts";
import { virtualClock, type VirtualClock } from "../kit/virtual-clock.ts";
import {
  elapsed,
  endAt,
  httpError,
  result,
  rpcError,
  scriptedNode,
  silence,
  turns,
  type Reply,
  type ScriptedNode,
} from "./scripted-node.ts";

const OWNER = "Vote111111111111111111111111111111111111111" as Address;
const absent = result({ context: { slot: 7 }, value: [null] });
const SURVEY_MS = 5_000;

interface Two {
  readonly clock: VirtualClock;
  readonly ledger: Ledger;
  /** Asks one question and says which endpoints it went to. */
  ask(): Promise<string[]>;
  /** Lets a survey happen, `ms` from now. */
  survey(ms?: number): Promise<void>;
}

/** A ledger that prefers `first` to `second`. */
function two(first: ScriptedNode, second: ScriptedNode, options: Partial<{ logger: Logger }> = {}): Two {
  const clock = virtualClock();
  const endpoints: EndpointOptions[] = [
    { url: "http://first.example/k3y", fetch: first.fetch },
    { url: "http://second.example/k3y", fetch: second.fetch },
  ];
  const ledger = solanaLedger({ endpoints, clock, ...options });
  const ask = async (): Promise<string[]> => {
    const before = [first.calls.length, second.calls.length] as const;
    const asked = ledger.mints([OWNER]).catch(() => undefined);
    await elapsed(clock, asked);
    await turns();
    return [
      ...first.calls.slice(before[0]).map(() => "first"),
      ...second.calls.slice(before[1]).map(() => "second"),
    ];
  };
  return {
    clock,
    ledger,
    ask,
    survey: async (ms = SURVEY_MS) => {
      clock.advance(ms);
      await ask();
    },
  };
}

test("an endpoint that is further behind the best than 50 slots is asked after it, until it has caught up", async () => {
  const [first, second] = [scriptedNode(absent), scriptedNode(absent)];
  const { ask, survey } = two(first, second);
  first.look = endAt(949);
  second.look = endAt(1_000);
  // Nobody waits for the look: it serves the questions after it.
  expect(await ask()).toEqual(["first"]);
  expect(await ask()).toEqual(["second"]);
  first.look = endAt(950);
  await survey();
  expect(await ask()).toEqual(["first"]);
  // The other one is behind now: the order does not change.
  first.look = endAt(2_000);
  await survey();
  expect(await ask()).toEqual(["first"]);
});

test("a lagging endpoint is better than none: it is asked when the others have failed", async () => {
  const [first, second] = [scriptedNode(absent), scriptedNode(httpError(403))];
  first.look = endAt(0);
  const { ask } = two(first, second);
  await ask();
  expect(await ask()).toEqual(["first", "second"]);
});

test("an endpoint that does not answer the look is compared with nobody", async () => {
  const [first, second] = [scriptedNode(absent), scriptedNode(absent)];
  first.look = silence;
  const { ask, survey, clock } = two(first, second);
  await ask();
  expect(await ask()).toEqual(["first"]);
  clock.advance(8_000);
  await turns();
  await survey();
  expect(await ask()).toEqual(["first"]);
});

test("an endpoint that fails three times in a row is avoided 5 s, then twice as long each time, 60 s at most", async () => {
  const [first, second] = [scriptedNode(httpError(503)), scriptedNode(absent)];
  const { ask, survey, clock } = two(first, second);
  for (let failure = 1; failure <= 3; failure += 1) expect(await ask()).toContain("first");
  for (const seconds of [5, 10, 20, 40, 60, 60]) {
    expect(await ask()).toEqual(["second"]);
    clock.advance(seconds * 1_000 - 1);
    await ask();
    expect(await ask()).toEqual(["second"]);
    await survey();
    expect(await ask()).toEqual(["first", "second"]);
  }
});

test("of many questions that fail at once three count: nobody is sent away for a minute by one broken second", async () => {
  const [first, second] = [scriptedNode(httpError(503)), scriptedNode(absent)];
  const { ask, survey, ledger } = two(first, second);
  await Promise.all(Array.from({ length: 50 }, (_, index) => ledger.statuses([String(index)])));
  expect(first.calls).toHaveLength(50);
  expect(await ask()).toEqual(["second"]);
  await survey();
  expect(await ask()).toEqual(["first", "second"]);
});

test("a call that fails counts once, however many callers shared it", async () => {
  const [first, second] = [scriptedNode(httpError(503), absent), scriptedNode(absent)];
  const { ask, ledger } = two(first, second);
  await Promise.all(Array.from({ length: 50 }, () => ledger.mints([OWNER])));
  expect([first.calls.length, second.calls.length]).toEqual([1, 1]);
  expect(await ask()).toEqual(["first"]);
});

test("an endpoint that was avoided and answers is preferred as before, and its failures are forgotten", async () => {
  const failures: Reply[] = Array<Reply>(3).fill(httpError(503));
  const [first, second] = [scriptedNode(...failures, absent, ...failures, absent), scriptedNode(absent)];
  const { ask, survey } = two(first, second);
  for (let round = 0; round < 2; round += 1) {
    for (let failure = 1; failure <= 3; failure += 1) await ask();
    expect(await ask()).toEqual(["second"]);
    await survey();
    expect(await ask()).toEqual(["first"]);
  }
});

test("an endpoint that hangs costs no question its deadline while it is avoided, for as long as it hangs", async () => {
  const [first, second] = [scriptedNode(silence), scriptedNode(absent)];
  first.look = silence;
  const { ask, survey, clock } = two(first, second);
  for (let question = 0; question < 3; question += 1) await ask();
  const asked = first.calls.length;
  const start = clock.now();
  for (let minute = 0; minute < 10; minute += 1) {
    expect(await ask()).toEqual(["second"]);
    clock.advance(60_000);
  }
  expect(clock.now() - start).toBe(600_000);
  expect(first.calls).toHaveLength(asked);
  first.look = endAt(1_000);
  // The look that still hangs, then the minute that its failure costs.
  for (let minute = 0; minute < 3; minute += 1) await survey(60_000);
  expect(first.calls.length).toBeGreaterThan(asked);
});

test("an error about the question, or our own hurry, is not held against an endpoint", async () => {
  const [first, second] = [scriptedNode(rpcError(-32602)), scriptedNode(absent)];
  const { ask } = two(first, second);
  for (let question = 0; question < 10; question += 1) expect(await ask()).toEqual(["first", "second"]);
});

test("429 without Retry-After, in the status or in the body, is left alone for a second", async () => {
  for (const busy of [httpError(429), rpcError(429)]) {
    const [first, second] = [scriptedNode(busy, absent), scriptedNode(absent)];
    const { ask, clock } = two(first, second);
    expect(await ask()).toEqual(["first", "second"]);
    clock.advance(999);
    expect(await ask()).toEqual(["second"]);
    clock.advance(1);
    expect(await ask()).toEqual(["first"]);
  }
});

test("503 with Retry-After is left alone as 429 is", async () => {
  const [first, second] = [
    scriptedNode(httpError(503, { "retry-after": "30" }), absent),
    scriptedNode(absent),
  ];
  const { ask, clock } = two(first, second);
  await ask();
  clock.advance(29_999);
  expect(await ask()).toEqual(["second"]);
  clock.advance(1);
  expect(await ask()).toEqual(["first"]);
});

test("broadcasts and fates go to avoided endpoints, too", async () => {
  const [first, second] = [scriptedNode(httpError(503)), scriptedNode(absent)];
  const { ask, clock, ledger } = two(first, second);
  for (let failure = 1; failure <= 3; failure += 1) await ask();
  expect(await ask()).toEqual(["second"]);
  await elapsed(
    clock,
    ledger.broadcast(new Uint8Array(4)).catch(() => undefined),
  );
  await elapsed(clock, fatesOf(ledger, [anAttempt()]));
  expect(first.calls).toContain("sendTransaction");
  expect(first.calls).toContain("getGenesisHash");
});

test("a single endpoint is asked whatever it did before and says in passing, and looked at every 30 s at most", async () => {
  const node = scriptedNode(...Array<Reply>(9).fill(httpError(503)), absent);
  let looks = 0;
  node.look = () => {
    looks += 1;
    return new Response("");
  };
  const clock = virtualClock();
  const ledger = solanaLedger({ endpoints: [{ url: "http://node.example", fetch: node.fetch }], clock });
  for (let question = 0; question < 3; question += 1) {
    const asked = ledger.mints([OWNER]);
    await elapsed(clock, asked);
    await expect(asked).rejects.toThrow("HTTP 503");
  }
  // A virtual clock that nobody turns: any pause would hang.
  expect(await ledger.mints([OWNER])).toEqual([null]);
  expect(looks).toBe(1);
});

test("an idle ledger looks at nobody, a busy one every five seconds", async () => {
  const [first, second] = [scriptedNode(absent), scriptedNode(absent)];
  let looks = 0;
  second.look = (call) => {
    looks += 1;
    return endAt(1_000)(call);
  };
  const { ask, clock } = two(first, second);
  await ask();
  clock.advance(3_600_000);
  await turns();
  expect(looks).toBe(1);
  const start = clock.now();
  for (let question = 0; question < 100; question += 1) {
    await ask();
    clock.advance(200);
  }
  expect(clock.now() - start).toBe(20_000);
  expect(looks).toBe(1 + 4);
});

test("what happens to an endpoint is logged by its name, once per change, and never its URL, key or words", async () => {
  const lines: { level: string; text: string }[] = [];
  const write =
    (level: string) =>
    (fields: object, message: string): void =>
      void lines.push({ level, text: `${message} ${JSON.stringify(fields)}` });
  const logger = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
  const [first, second] = [
    scriptedNode(...Array<Reply>(3).fill(httpError(503)), absent),
    scriptedNode(absent),
  ];
  const { ask, survey } = two(first, second, { logger });
  for (let failure = 1; failure <= 3; failure += 1) await ask();
  await survey();
  await ask();
  first.look = endAt(10);
  await survey();
  await survey();
  first.look = endAt(1_000);
  await survey();
  expect(lines.filter(({ level }) => level === "debug")).toHaveLength(3);
  const told = lines.filter(({ level }) => level !== "debug").map(({ level, text }) => `${level}: ${text}`);
  expect(told).toEqual([
    'warn: a Solana endpoint keeps failing and is asked after the others {"endpoint":"first.example","kind":"http","code":503,"avoidedMs":5000}',
    'info: a Solana endpoint answers again {"endpoint":"first.example"}',
    'warn: a Solana endpoint lags and is asked after the others {"endpoint":"first.example","slotsBehind":990}',
    'info: a Solana endpoint has caught up {"endpoint":"first.example","slotsBehind":0}',
  ]);
  expect(JSON.stringify(lines)).not.toContain("k3y");
});
