/** Different reads of one moment travel in one request, and none joins a request that has left. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answerTooLarge, EndpointFailure } from "../../../src/solana/endpoint-failure.ts";
import { queuedCalls } from "../../../src/solana/rpc/call-queue.ts";
import { CallRateLimit } from "../../../src/solana/rpc/call-rate-limit.ts";
import {
  fulfilled,
  rejected,
  type Outcome,
  type RpcBatchFetch,
  type RpcCall,
  type WrittenCall,
} from "../../../src/solana/rpc/rpc-call.ts";
import { virtualClock, type VirtualClock } from "../../kit/virtual-clock.ts";
import { turns } from "../scripted-node.ts";
import { runsOf } from "../../kit/thorough.ts";

/** A request that reached the node, to be answered by the test. */
interface Reached {
  readonly calls: readonly WrittenCall[];
  readonly answer: (...outcomes: readonly Outcome[]) => void;
}

const ACCOUNTS = { accountsPerCall: 100 };

interface Scene {
  readonly call: RpcCall;
  readonly reached: readonly Reached[];
  readonly clock: VirtualClock;
}

/** A node that answers when the test says so. */
function patientNode(callsPerBatch = 20): Scene {
  const clock = virtualClock();
  const reached: Reached[] = [];
  const post: RpcBatchFetch = (calls) =>
    new Promise((resolve) => {
      reached.push({ calls, answer: (...outcomes) => resolve(outcomes) });
    });
  return { call: queuedCalls(post, { ...ACCOUNTS, clock, callsPerBatch, pace: null }), reached, clock };
}

/** A node that answers each call with its own text, and notes how its requests were made up. */
function echo(requests: (readonly WrittenCall[])[]): RpcBatchFetch {
  return async (calls) => {
    requests.push(calls);
    return calls.map(({ text }) => fulfilled(text));
  };
}

const methodsOf = ({ calls }: Reached): readonly string[] => calls.map(({ method }) => method);

describe("reads of one moment", () => {
  test("go in one request, and each caller gets the answer to its own", async () => {
    const { call, reached } = patientNode();
    const slot = call("getSlot", []);
    const account = call("getAccountInfo", ["a"]);
    await turns(1);
    expect(reached.map(methodsOf)).toEqual([["getSlot", "getAccountInfo"]]);
    reached[0]?.answer(fulfilled(7), fulfilled("account a"));
    expect(await Promise.all([slot, account])).toEqual([7, "account a"]);
  });

  test("never join a request that has left: an answer is no older than its question", async () => {
    const { call, reached } = patientNode();
    const before = call("getSlot", []);
    await turns(1);
    const after = call("getEpochInfo", []);
    await turns();
    expect(reached.map(methodsOf)).toEqual([["getSlot"]]);
    reached[0]?.answer(fulfilled("read before"));
    expect(await before).toBe("read before");
    expect(reached.map(methodsOf)).toEqual([["getSlot"], ["getEpochInfo"]]);
    reached[1]?.answer(fulfilled("read after"));
    expect(await after).toBe("read after");
  });

  test("wait 10 ms for a request that is under way, and not for one that hangs", async () => {
    const { call, reached, clock } = patientNode();
    void call("getSlot", []);
    await turns(1);
    void call("getEpochInfo", []);
    clock.advance(9);
    await turns();
    expect(reached).toHaveLength(1);
    clock.advance(1);
    await turns();
    expect(reached).toHaveLength(2);
  });

  test("that look into history go in requests of their own, and so hold no others up", async () => {
    const { call, reached } = patientNode();
    void call("getSignatureStatuses", [["1"]]);
    void call("getSlot", []);
    void call("getTransaction", ["1"]);
    const balance = call("getBalance", ["a"]);
    await turns(1);
    expect(reached.map(methodsOf)).toEqual([
      ["getSignatureStatuses", "getTransaction"],
      ["getSlot", "getBalance"],
    ]);
    reached[1]?.answer(fulfilled(1), fulfilled(2));
    expect(await balance).toBe(2);
  });

  test("fail singly where a node answers so, and the others are answered", async () => {
    const { call, reached } = patientNode();
    const all = Promise.allSettled([call("getSlot", []), call("getBalance", ["a"])]);
    await turns(1);
    const noSlot = rejected(new EndpointFailure("rpc", "no slot"));
    reached[0]?.answer(noSlot, fulfilled(5));
    expect(await all).toEqual([noSlot, fulfilled(5)]);
  });
});

test.each(["sendTransaction", "simulateTransaction", "getBlock", "getBlocks", "unheardOf"])(
  "%s is never batched, and leaves at once",
  (method) => {
    const { call, reached } = patientNode();
    void call("getSlot", []);
    void call(method, ["one"]);
    void call(method, ["other"]);
    expect(reached.map(methodsOf)).toEqual([[method], [method]]);
  },
);

test("all token accounts of an owner, which may be many, are read in a request of their own", async () => {
  const { call, reached } = patientNode();
  void call("getSlot", []);
  void call("getTokenAccountsByOwner", ["one"]);
  void call("getTokenAccountsByOwner", ["other"]);
  await turns(1);
  expect(reached.map(methodsOf)).toEqual([
    ["getSlot"],
    ["getTokenAccountsByOwner"],
    ["getTokenAccountsByOwner"],
  ]);
});

test("no request holds more calls, or more bytes, than it may, and no call is lost or answered with another's", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2, max: 100 }),
      fc.array(fc.oneof(fc.constant(1), fc.nat(6_000), fc.constant(60_000)), {
        minLength: 1,
        maxLength: 150,
      }),
      async (callsPerBatch, sizes) => {
        const requests: (readonly WrittenCall[])[] = [];
        const call = queuedCalls(echo(requests), {
          ...ACCOUNTS,
          clock: virtualClock(),
          callsPerBatch,
          pace: null,
        });
        const answers = await Promise.all(
          sizes.map((size, index) => call("getMultipleAccounts", [`${index}`, "1".repeat(size)])),
        );
        answers.forEach((answer, index) => expect(answer).toContain(`"params":["${index}",`));
        expect(requests.flat()).toHaveLength(sizes.length);
        for (const calls of requests) {
          expect(calls.length).toBeLessThanOrEqual(callsPerBatch);
          const bytes = calls.reduce((sum, { text }) => sum + text.length + 1, 1);
          // What one call asks for is its own business.
          expect(calls.length === 1 || bytes <= 50 * 1_024).toBe(true);
        }
      },
    ),
    { numRuns: runsOf(30) },
  );
});

test("a request is no larger than what the endpoint's rate allows at once", async () => {
  const clock = virtualClock();
  const requests: (readonly WrittenCall[])[] = [];
  const pace = new CallRateLimit(8, clock, new AbortController().signal);
  const call = queuedCalls(echo(requests), { ...ACCOUNTS, clock, callsPerBatch: 20, pace });
  const ask = (): Promise<unknown> => Promise.all(Array.from({ length: 20 }, (_, n) => call("getSlot", [n])));
  await ask();
  expect(requests.splice(0).map(({ length }) => length)).toEqual([8, 8, 4]);
});

describe("answers that are too many bytes for one request", () => {
  test("are asked for alone, so that only the large one fails", async () => {
    const sizes: number[] = [];
    const post: RpcBatchFetch = async (calls) => {
      sizes.push(calls.length);
      const isLarge = calls.some(({ text }) => text.includes("large"));
      const failure = answerTooLarge();
      return calls.map(({ method }) => (isLarge ? rejected(failure) : fulfilled(method)));
    };
    const call = queuedCalls(post, { ...ACCOUNTS, clock: virtualClock(), callsPerBatch: 20, pace: null });
    const all = [call("getSlot", []), call("getAccountInfo", ["large"]), call("getEpochInfo", [])];
    expect(await Promise.allSettled(all)).toMatchObject([
      fulfilled("getSlot"),
      { status: "rejected", reason: { kind: "garbled", message: "an answer that is too large" } },
      fulfilled("getEpochInfo"),
    ]);
    expect(sizes).toEqual([3, 1, 1, 1]);
  });

  test("are not asked for again where one call is all there was", async () => {
    let requests = 0;
    const post: RpcBatchFetch = async () => {
      requests += 1;
      return [rejected(answerTooLarge())];
    };
    const call = queuedCalls(post, { ...ACCOUNTS, clock: virtualClock(), callsPerBatch: 20, pace: null });
    await expect(call("getAccountInfo", ["large"])).rejects.toThrow("too large");
    expect(requests).toBe(1);
  });
});
