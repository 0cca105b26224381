/** What the ledger remembers for a moment, so that a thousand payments at once do not ask the same a thousand times. */
import { expect } from "vitest";
import { rememberAnswers } from "../../src/solana/answer-cache.ts";
import { signPayment, SLOTS_TO_FINALITY } from "../kit/chain-fixture.ts";
import { oddEndpoint } from "../kit/odd-endpoints.ts";
import { virtualClock } from "../kit/virtual-clock.ts";
import { chainTest as test } from "../kit/chain-test.ts";

const clock = virtualClock();
const open = new AbortController().signal;

test("a question is asked once for all who ask within its time, and again after it", async () => {
  const remembered = rememberAnswers(clock, open);
  let asked = 0;
  const question = async (): Promise<number> => (asked += 1);
  expect(await Promise.all([1, 2, 3].map(() => remembered("rent", 1_000, question)))).toEqual([1, 1, 1]);
  clock.advance(999);
  expect(await remembered("rent", 1_000, question)).toBe(1);
  clock.advance(1);
  expect(await remembered("rent", 1_000, question)).toBe(2);
  expect(await remembered("fee", 1_000, question)).toBe(3);
});

test("after the machine's clock was set back by an hour, it is asked again at once", async () => {
  let time = Date.UTC(2026, 0, 1);
  const remembered = rememberAnswers({ now: () => time, sleep: async () => undefined }, open);
  let asked = 0;
  const question = async (): Promise<number> => (asked += 1);
  expect(await remembered("newest blockhash", 1_000, question)).toBe(1);
  time -= 3_600_000;
  expect(await remembered("newest blockhash", 1_000, question)).toBe(2);
  expect(await remembered("newest blockhash", 1_000, question)).toBe(2);
});

test("a failure is told to those who waited for it, and kept for nobody else", async () => {
  const remembered = rememberAnswers(clock, open);
  const failing = async (): Promise<number> => await Promise.reject(new Error("no node answers"));
  const both = await Promise.allSettled([
    remembered("rent", 1_000, failing),
    remembered("rent", 1_000, failing),
  ]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await remembered("rent", 1_000, async () => 5)).toBe(5);
});

test("what was asked for longest ago is forgotten first, and nothing piles up", async () => {
  const remembered = rememberAnswers(clock, open);
  for (let key = 0; key <= 1_000; key += 1) await remembered(`fee ${key}`, 1_000, async () => "then");
  expect(await remembered("fee 0", 1_000, async () => "now")).toBe("now");
  expect(await remembered("fee 1000", 1_000, async () => "now")).toBe("then");
});

test("R3: how long a blockhash lives is asked for each payment, also for one of ours", async ({ world }) => {
  const { chain, mints, wallet, ledgerOf } = world;
  const { calls: asked, option } = oddEndpoint(chain, "local");
  const [ours, theirs] = [ledgerOf([option]), ledgerOf([option])];
  const alice = wallet("alice", { lamports: 1_000_000_000n, usdc: 5_000_000n });
  const bob = wallet("bob", { lamports: 1_000_000_000n });
  const transfers = [{ recipient: bob.address, amount: 1_000_000n }];
  const payment = { sender: alice.address, mint: mints.USDC, decimals: 6, transfers };
  const { bytes } = await ours.buildPayment(payment, new Uint8Array(32).fill(7));
  const signed = signPayment(bytes, alice.secretKey);

  asked.length = 0;
  expect(await ours.verifyPayment(signed, payment)).toHaveProperty("verified");
  expect(asked).toEqual(["getMultipleAccounts", "isBlockhashValid", "getEpochInfo"]);
  expect(await theirs.verifyPayment(signed, payment)).toHaveProperty("verified");
  expect(asked).toContain("isBlockhashValid");

  chain.advance(150 + SLOTS_TO_FINALITY);
  expect(await ours.verifyPayment(signed, payment)).toEqual({ refused: "blockhash_expired" });
  await Promise.all([ours.close(), theirs.close()]);
});
