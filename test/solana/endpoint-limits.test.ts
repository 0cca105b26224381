/** What a provider allows is kept: calls per second, and how much one call may ask for. */
import { fatesOf } from "../kit/fates.ts";
import { expect, test } from "vitest";
import fc from "fast-check";
import type { Address } from "../../src/core/address.ts";
import { CallRateLimit } from "../../src/solana/rpc/call-rate-limit.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { anAttempt } from "../kit/attempts.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { result, scriptedNode, turns, type Reply } from "./scripted-node.ts";
import { runsOf } from "../kit/thorough.ts";

const OWNER = "Vote111111111111111111111111111111111111111" as Address;
const signature = (index: number): string => String(index).padStart(64, "1");

/** Answers as many nulls as it is asked for, but for one signature, and notes how many those were. */
function counting(sizes: number[], slots: number[] = []): Reply {
  return (call) => {
    const [asked] = call.params as [string[]];
    sizes.push(asked.length);
    const landed = { slot: 5, confirmations: 1, err: null, confirmationStatus: "confirmed" };
    const value = asked.map((each) => (each === signature(7) ? landed : null));
    return result({ context: { slot: slots[sizes.length - 1] ?? 100 }, value })(call);
  };
}

test("accounts and signatures are asked for in calls of the size that each endpoint takes, in order", async () => {
  for (const [option, accounts, signatures] of [
    [{}, [100, 100, 50], [250]],
    [{ accountsPerCall: 99, signaturesPerCall: 4 }, [99, 99, 52], [...Array<number>(62).fill(4), 2]],
    [{ accountsPerCall: 100, signaturesPerCall: 256 }, [100, 100, 50], [250]],
  ] as const) {
    const sizes: number[] = [];
    const endpoints = [{ url: "http://node.example", fetch: scriptedNode(counting(sizes)).fetch, ...option }];
    const ledger = solanaLedger({ endpoints, clock: virtualClock() });
    expect(await ledger.accountKinds(Array<Address>(250).fill(OWNER))).toHaveLength(250);
    expect(sizes.splice(0)).toEqual(accounts);
    const found = await ledger.statuses(Array.from({ length: 250 }, (_, index) => signature(index)));
    expect(sizes).toEqual(signatures);
    expect(found.findIndex((each) => each !== null)).toBe(7);
    expect(found).toHaveLength(250);
  }
});

test("L5: looks at single accounts go to the next endpoint where the limit of the first has no room, and come back to it", async () => {
  const clock = virtualClock();
  const looks = { first: 0, second: 0 };
  const endpoints = (["first", "second"] as const).map((name) => ({
    url: `http://${name}.example`,
    requestsPerSecond: 10,
    fetch: scriptedNode((call) => {
      const [asked] = call.params as [readonly string[]];
      if (call.method === "getMultipleAccounts" && asked[0] === OWNER) looks[name] += 1;
      return counting([])(call);
    }).fetch,
  }));
  const ledger = solanaLedger({ endpoints, clock });
  const look = (): Promise<unknown> => ledger.amountsIn([{ address: OWNER, mint: null }], "finalized");
  // None of them waits: the clock stands still. Some calls are the ledger's own.
  for (let count = 0; count < 14; count++) await look();
  const { first, second } = looks;
  expect(first + second).toBe(14);
  expect(first).toBeGreaterThan(second);
  expect(second).toBeGreaterThanOrEqual(4);
  clock.advance(1_000);
  await look();
  expect(looks).toEqual({ first: first + 1, second });
  expect(ledger.readLimit).toEqual({ perSecond: 20, accounts: 100, witnesses: 2 });
});

test("E7: a null in a later, smaller call proves nothing when an earlier call of the same look was answered too old", async () => {
  const attempts = [1, 2, 3].map((index) =>
    anAttempt({ signature: signature(index), lastValidBlockHeight: 10 }),
  );
  const fatesAt = async (slots: number[]): Promise<readonly string[]> => {
    // What is old is looked for again behind a finalized height, and once more after its blockhash was found to have ended.
    const count = counting([], [...slots, ...slots, ...slots]);
    const answers: Readonly<Record<string, Reply>> = {
      getGenesisHash: result("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"),
      getEpochInfo: result({ absoluteSlot: 250, blockHeight: 11, epoch: 0, slotIndex: 0, slotsInEpoch: 1 }),
      getFirstAvailableBlock: result(0),
      getSignaturesForAddress: result([]),
      isBlockhashValid: result({ context: { slot: 260 }, value: false }),
    };
    const node = scriptedNode((call) => (answers[call.method] ?? count)(call));
    const endpoints = [{ url: "http://node.example", fetch: node.fetch, signaturesPerCall: 1 }];
    return await fatesOf(solanaLedger({ endpoints, clock: virtualClock() }), attempts);
  };
  expect(await fatesAt([251, 251, 251])).toEqual(["dead", "dead", "dead"]);
  expect(await fatesAt([250, 251, 251])).toEqual(["open", "open", "open"]);
  expect(await fatesAt([251, 251, 250])).toEqual(["open", "open", "open"]);
});

test("no second ever sees more than two seconds' worth of calls, and no caller waits more than four", async () => {
  const clock = virtualClock();
  await fc.assert(
    fc.asyncProperty(
      fc.double({ min: 0.2, max: 50, noNaN: true }),
      fc.array(fc.tuple(fc.nat(3_000), fc.integer({ min: 1, max: 20 })), { minLength: 1, maxLength: 60 }),
      async (rate, asked) => {
        const pace = new CallRateLimit(rate, clock, new AbortController().signal);
        const made: number[] = [];
        const refused: number[] = [];
        const waits: number[] = [];
        const together = asked.map(([gap, calls]) => [gap, Math.min(calls, pace.burst)] as const);
        for (const [gap, calls] of together) {
          const from = clock.now();
          void pace.next(calls).then(
            () => {
              made.push(...Array<number>(calls).fill(clock.now()));
              waits.push(clock.now() - from);
            },
            () => refused.push(calls),
          );
          await turns(1);
          for (let passed = 0; passed < gap; passed += 50) {
            clock.advance(50);
            await turns(1);
          }
        }
        for (let step = 0; step < 100; step += 1) {
          clock.advance(50);
          await turns(1);
        }
        const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);
        expect(made.length + sum(refused)).toBe(sum(together.map(([, calls]) => calls)));
        // The clock's step is what a wake-up may be late by.
        for (const wait of waits) expect(wait).toBeLessThanOrEqual(4_000 + 50);
        for (const [index, from] of made.entries()) {
          const within = made.slice(index).filter((at) => at < from + 1_000).length;
          expect(within).toBeLessThanOrEqual(Math.max(1, rate) + rate * 1.05 + 1);
        }
      },
    ),
    { numRuns: runsOf(20) },
  );
});

test("the first call of a slow endpoint is made at once", async () => {
  const clock = virtualClock();
  const pace = new CallRateLimit(0.5, clock, new AbortController().signal);
  // A virtual clock that nobody turns: any pause would hang.
  await pace.next(1);
  let second = false;
  void pace.next(1).then(() => (second = true));
  clock.advance(1_999);
  await turns();
  expect(second).toBe(false);
  clock.advance(1);
  await turns();
  expect(second).toBe(true);
});

test("wrong limits, a user name and the same endpoint twice are refused with their paths", () => {
  const endpoints = [
    { url: "http://node.example", accountsPerCall: 101, signaturesPerCall: 257, callsPerBatch: 101 },
    { url: "http://user:k3y@node.example" },
    { url: "http://node.example/", accountsPerCall: 0, signaturesPerCall: 1.5, callsPerBatch: 0 },
  ];
  const make = (): unknown => solanaLedger({ endpoints });
  for (const path of [
    "endpoints.0.accountsPerCall",
    "endpoints.0.signaturesPerCall",
    "endpoints.0.callsPerBatch",
    "endpoints.1.url",
    "endpoints.2.accountsPerCall",
    "endpoints.2.signaturesPerCall",
    "endpoints.2.callsPerBatch",
  ]) {
    expect(make).toThrow(`- ${path}: `);
  }
  expect(make).not.toThrow("k3y");
  const twice = ["http://node.example/k3y", "http://other.example", "http://NODE.example/k3y"];
  expect(() => solanaLedger({ endpoints: twice })).toThrow("- endpoints.2.url: expected every endpoint once");
});
