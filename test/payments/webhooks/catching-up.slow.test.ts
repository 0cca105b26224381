/** Catching up: thousands of payments that land at once, told from a node that takes its time for each answer. */
// modules: webhooks
import { expect, test as vitestTest } from "vitest";
import { memoryStorage } from "../../kit/storages.ts";
import { solanaLedger } from "../../../src/solana/index.ts";
import { turns } from "../../kit/engine-world.ts";
import { landingNode } from "../../kit/landing-node.ts";
import { opener } from "../../kit/opener.ts";
import { byDepth } from "../../kit/thorough.ts";
import { transfersInFlight } from "../../kit/transfers-in-flight.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";
import { silentLogger } from "../../../src/core/runtime.ts";

const PAYMENTS = byDepth({ quick: 600, ci: 3_000, long: 3_000 });
const LATENCY_MS = 200;
const MINUTE = 60_000;
const STEP_MS = 100;
/** What a node has to bear at most, however much there is to catch up with. */
const RECEIPTS_AT_ONCE = 32;
const SENDS_AT_ONCE = 32;
const LOOKS_AT_ONCE = 4;
/** Enough for an answer to become a commit and the next question. */
const TURNS_A_STEP = 12;

/** Payments that were sent and are followed by an engine that runs. The node is out for everything but sends. */
async function followed(count: number) {
  // Loaded with the ledger's first question otherwise, which takes real time while the test's clock goes on.
  await import("../../../src/solana/ledger-of-nodes.ts");
  const clock = virtualClock();
  const node = landingNode(clock, null);
  const endpoints = [{ url: "http://node", fetch: node.fetch }];
  const ledger = solanaLedger({ endpoints, clock, logger: silentLogger });
  const transfers = await transfersInFlight({ storage: await memoryStorage(), ledger, clock }, count);
  /** Lets time pass until the condition holds, at most so much; says how much it was. */
  const live = async (ms: number, isEnough: () => boolean = () => false): Promise<number> => {
    const began = clock.now();
    while (clock.now() - began < ms && !isEnough()) {
      clock.advance(STEP_MS);
      await turns(TURNS_A_STEP);
    }
    return clock.now() - began;
  };
  /** How often each was asked for by this method. */
  const timesAsked = (method: string): number[] => {
    const asked = node.asked.filter((call) => call.method === method).flatMap(({ signatures }) => signatures);
    const times = new Map<string, number>();
    for (const signature of asked) times.set(signature, (times.get(signature) ?? 0) + 1);
    return transfers.signatures.map((signature) => times.get(signature) ?? 0);
  };
  const close = async (): Promise<void> => {
    await transfers.engine.stop({ timeoutMs: 0 });
    await ledger.close();
  };
  transfers.engine.run();
  await live(5_000);
  return { node, transfers, live, timesAsked, close };
}

const test = vitestTest.extend("open", ({ onTestFinished }) => opener(followed, onTestFinished));

test(
  `M16: ${PAYMENTS} payments become final while the node was out and answers in 200 ms: all are told within a minute of its return, none is asked for twice`,
  { timeout: 120_000 },
  async ({ open }) => {
    const { node, transfers, live, timesAsked } = await open(PAYMENTS);
    for (const signature of transfers.signatures) node.chain.set(signature, "finalized");
    const lateMs = (): number => transfers.engine.watching()["landing"]?.lateMs ?? 0;
    await live(30_000, () => lateMs() > 20_000);
    expect(lateMs()).toBeGreaterThan(20_000);
    expect(transfers.told("completed")).toBe(0);
    expect(transfers.engine.watching()["landing"]).toMatchObject({ watched: PAYMENTS });
    node.asked.length = 0;
    node.mostAtOnce = 0;
    node.latencyMs = LATENCY_MS;
    const took = await live(2 * MINUTE, () => transfers.told("completed") === PAYMENTS);
    expect(transfers.told("completed")).toBe(PAYMENTS);
    expect(took).toBeLessThanOrEqual(MINUTE);
    expect(node.mostAtOnce).toBeLessThanOrEqual(RECEIPTS_AT_ONCE + LOOKS_AT_ONCE);
    expect(timesAsked("getTransaction")).toEqual(transfers.signatures.map(() => 1));
    // Once to see that it is final, and once to have it agreed.
    expect(timesAsked("getSignatureStatuses")).toEqual(transfers.signatures.map(() => 2));
    await live(2_000);
    expect(transfers.engine.watching()["landing"]).toEqual({ watched: 0, oldestMs: 0, lateMs: 0 });
  },
);

test("what cannot be had for one payment delays no other, and is asked for less and less often until it is there", async ({
  open,
}) => {
  const { node, transfers, live, timesAsked } = await open(100);
  for (const signature of transfers.signatures) node.chain.set(signature, "finalized");
  const [slow = ""] = transfers.signatures;
  node.chain.set(slow, "finalized without receipt");
  node.asked.length = 0;
  node.latencyMs = LATENCY_MS;
  await live(10_000, () => transfers.told("completed") === 99);
  expect(transfers.told("completed")).toBe(99);
  await live(60_000);
  const [asked = 0, ...others] = timesAsked("getTransaction");
  expect(others).toEqual(others.map(() => 1));
  // After 2, 4, 8 and then every 8 s.
  expect(asked).toBeGreaterThanOrEqual(7);
  expect(asked).toBeLessThanOrEqual(11);
  expect(transfers.engine.watching()["landing"]?.lateMs).toBeGreaterThan(50_000);
  node.chain.set(slow, "finalized");
  await live(11_000, () => transfers.told("completed") === 100);
  expect(transfers.told("completed")).toBe(100);
});

test("E10: what one answer called final and the next one does not know is followed on, not waited for", async ({
  open,
}) => {
  const { node, transfers, live } = await open(1);
  const [signature = ""] = transfers.signatures;
  node.chain.set(signature, "finalized without receipt");
  node.latencyMs = 0;
  await live(2_000);
  node.chain.delete(signature);
  const sends = (): number => node.asked.filter(({ method }) => method === "sendTransaction").length;
  const before = sends();
  await live(5_000);
  expect(sends()).toBeGreaterThan(before);
  node.chain.set(signature, "confirmed");
  await live(3_000);
  expect(transfers.told("confirmed")).toBe(1);
});

test("W9: 2,000 payments that no node has seen are sent again in turn, and a landing is told meanwhile", async ({
  open,
}) => {
  const { node, transfers, live } = await open(2_000);
  const sent = new Map<string, number>();
  node.asked.length = 0;
  node.mostAtOnce = 0;
  node.latencyMs = LATENCY_MS;
  node.onSend = (bytes) => sent.set(bytes, (sent.get(bytes) ?? 0) + 1);
  await live(10_000);
  const landed = transfers.signatures.at(-1) ?? "";
  node.chain.set(landed, "finalized");
  const took = await live(MINUTE, () => transfers.told("completed") === 1);
  expect(transfers.told("completed")).toBe(1);
  expect(took).toBeLessThanOrEqual(5_000);
  await live(30_000);
  // The one that landed may have done so before its turn came.
  expect(sent.size).toBeGreaterThanOrEqual(1_999);
  // In turn: all but the landed one were sent at least twice, before others had used the free places five times more.
  expect([...sent.values()].filter((times) => times < 2).length).toBeLessThanOrEqual(1);
  expect(Math.max(...sent.values()) - Math.min(...sent.values())).toBeLessThanOrEqual(5);
  expect(node.mostAtOnce).toBeLessThanOrEqual(SENDS_AT_ONCE + LOOKS_AT_ONCE);
}, 120_000);
