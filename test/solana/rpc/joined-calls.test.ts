/** Callers of one moment share a call of a node, and never one that was sent before they asked. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EndpointFailure } from "../../../src/solana/endpoint-failure.ts";
import { queuedCalls } from "../../../src/solana/rpc/call-queue.ts";
import type { Outcome, RpcCall } from "../../../src/solana/rpc/rpc-call.ts";
import { virtualClock, type VirtualClock } from "../../kit/virtual-clock.ts";
import { turns } from "../scripted-node.ts";
import { runsOf } from "../../kit/thorough.ts";

/** A call that reached the node, to be answered by the test. */
interface Reached {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly answer: (result: unknown) => void;
  readonly fail: (error: unknown) => void;
}

interface Scene {
  readonly call: RpcCall;
  readonly reached: readonly Reached[];
  readonly clock: VirtualClock;
}

/** The queue in front of a node that takes no batches. */
function joinedCalls(
  node: RpcCall,
  parts: Pick<Parameters<typeof queuedCalls>[1], "clock" | "accountsPerCall">,
): RpcCall {
  const answered = (each: Parameters<RpcCall>): Promise<Outcome[]> => Promise.allSettled([node(...each)]);
  return queuedCalls(
    async (calls) =>
      (await Promise.all(calls.map(({ method, params }) => answered([method, params])))).flat(),
    { ...parts, callsPerBatch: 1, pace: null },
  );
}

/** A node that answers when the test says so. */
function patientNode(accountsPerCall = 100): Scene {
  const clock = virtualClock();
  const reached: Reached[] = [];
  const node: RpcCall = (method, params) =>
    new Promise((answer, fail) => {
      reached.push({ method, params, answer, fail });
    });
  return { call: joinedCalls(node, { clock, accountsPerCall }), reached, clock };
}

const FINALIZED = { commitment: "finalized" };
const accountsAt = (slot: number, { params: [asked] }: Reached): unknown => ({
  context: { slot },
  value: (asked as string[]).map((address) => `account ${address}`),
});
const told = (slot: number, ...addresses: readonly string[]): unknown => ({
  context: { slot },
  value: addresses.map((address) => `account ${address}`),
});

describe("the same read", () => {
  test("is made once for all who ask within one turn", async () => {
    const { call, reached } = patientNode();
    const all = Promise.all([1, 2, 3].map(() => call("getEpochInfo", [FINALIZED])));
    await turns(1);
    expect(reached).toHaveLength(1);
    reached[0]?.answer(7);
    expect(await all).toEqual([7, 7, 7]);
  });

  test("is made again for a caller who asked after it was sent: a proof must begin after its question", async () => {
    const { call, reached } = patientNode();
    const before = call("getEpochInfo", [FINALIZED]);
    await turns(1);
    const after = call("getEpochInfo", [FINALIZED]);
    const alike = call("getEpochInfo", [FINALIZED]);
    await turns();
    expect(reached).toHaveLength(1);
    reached[0]?.answer("read before");
    expect(await before).toBe("read before");
    expect(reached).toHaveLength(2);
    reached[1]?.answer("read after");
    expect(await Promise.all([after, alike])).toEqual(["read after", "read after"]);
  });

  test("waits 10 ms for one that is under way, and not for one that hangs", async () => {
    const { call, reached, clock } = patientNode();
    void call("getEpochInfo", [FINALIZED]);
    await turns(1);
    void call("getEpochInfo", [FINALIZED]);
    clock.advance(9);
    await turns();
    expect(reached).toHaveLength(1);
    clock.advance(1);
    await turns();
    expect(reached).toHaveLength(2);
  });

  test("at another commitment is another read", async () => {
    const { call, reached } = patientNode();
    void call("getEpochInfo", [FINALIZED]);
    void call("getEpochInfo", [{ commitment: "confirmed" }]);
    await turns(1);
    expect(reached.map(({ params }) => params)).toEqual([[FINALIZED], [{ commitment: "confirmed" }]]);
  });

  test("that fails is told as one and the same failure to all who shared it, and is asked again after", async () => {
    const { call, reached } = patientNode();
    const both = Promise.allSettled([call("getSlot", []), call("getSlot", [])]);
    await turns(1);
    reached[0]?.fail(new EndpointFailure("timeout", "no answer in time"));
    const [one, other] = (await both).map((each) =>
      each.status === "rejected" ? (each.reason as unknown) : null,
    );
    expect(one).toMatchObject({ kind: "timeout" });
    expect(other).toBe(one);
    const again = call("getSlot", []);
    await turns(1);
    reached[1]?.answer(5);
    expect(await again).toBe(5);
  });
});

test.each(["sendTransaction", "simulateTransaction", "getSignatureStatuses", "getSignaturesForAddress"])(
  "%s is never shared, and leaves at once",
  (method) => {
    const { call, reached } = patientNode();
    void call(method, ["bytes"]);
    void call(method, ["bytes"]);
    expect(reached).toHaveLength(2);
  },
);

describe("accounts", () => {
  test("of several callers are read in one call, each address once, and each caller gets its own in its order", async () => {
    const { call, reached } = patientNode();
    const one = call("getMultipleAccounts", [["clock", "a", "b"], FINALIZED]);
    const other = call("getMultipleAccounts", [["clock", "c", "a"], FINALIZED]);
    await turns(1);
    expect(reached.map(({ params }) => params)).toEqual([[["clock", "a", "b", "c"], FINALIZED]]);
    const [both] = reached;
    if (both !== undefined) both.answer(accountsAt(5, both));
    expect(await one).toEqual(told(5, "clock", "a", "b"));
    expect(await other).toEqual(told(5, "clock", "c", "a"));
  });

  test("that one caller asks for together are never torn apart, however full the call is", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.array(fc.uniqueArray(fc.nat(30).map(String), { maxLength: 12 }), { minLength: 1, maxLength: 12 }),
        async (accountsPerCall, lists) => {
          const sizes: number[] = [];
          // Each call is of a slot of its own, so that an answer out of two would show.
          const node: RpcCall = async (_, [asked]) =>
            told(sizes.push((asked as string[]).length), ...(asked as string[]));
          const call = joinedCalls(node, { clock: virtualClock(), accountsPerCall });
          const answers = await Promise.all(
            lists.map((list) => call("getMultipleAccounts", [list, FINALIZED])),
          );
          answers.forEach((answer, index) => {
            const { slot } = (answer as { readonly context: { readonly slot: number } }).context;
            expect(answer).toEqual(told(slot, ...(lists[index] ?? [])));
          });
          const largest = Math.max(accountsPerCall, ...lists.map(({ length }) => length));
          expect(Math.max(...sizes)).toBeLessThanOrEqual(largest);
        },
      ),
      { numRuns: runsOf(50) },
    );
  });

  test.each([
    ["another commitment", { commitment: "confirmed" }],
    ["a block that must be reached", { ...FINALIZED, minContextSlot: 7 }],
    ["a part of each", { ...FINALIZED, dataSlice: { offset: 0, length: 1 } }],
  ])("with %s are not read together", async (_, query) => {
    const { call, reached } = patientNode();
    void call("getMultipleAccounts", [["a"], FINALIZED]);
    void call("getMultipleAccounts", [["b"], query]);
    await turns(1);
    expect(reached).toHaveLength(2);
  });

  test("asked for after the call has left are read after it", async () => {
    const { call, reached } = patientNode();
    const before = call("getMultipleAccounts", [["a"], FINALIZED]);
    await turns(1);
    const after = call("getMultipleAccounts", [["a"], FINALIZED]);
    await turns();
    const [first] = reached;
    first?.answer(accountsAt(5, first));
    expect(await before).toEqual(told(5, "a"));
    const [, second] = reached;
    second?.answer(accountsAt(6, second));
    expect(await after).toEqual(told(6, "a"));
  });

  test("that a node refuses disturb no neighbour: each caller is answered alone", async () => {
    const refusing: RpcCall = async (_, [asked]) => {
      const list = asked as string[];
      if (list.includes("too large")) throw new EndpointFailure("garbled", "an answer that is too large");
      return { context: { slot: 5 }, value: list.map((address) => `account ${address}`) };
    };
    const call = joinedCalls(refusing, { clock: virtualClock(), accountsPerCall: 100 });
    const all = [["a"], ["too large"], ["b"]].map((list) => call("getMultipleAccounts", [list, FINALIZED]));
    expect(await Promise.allSettled(all)).toMatchObject([
      { status: "fulfilled", value: told(5, "a") },
      { status: "rejected", reason: { kind: "garbled" } },
      { status: "fulfilled", value: told(5, "b") },
    ]);
  });

  test("are not asked for one by one of a node that cannot be reached", async () => {
    let calls = 0;
    const broken: RpcCall = async () => {
      calls += 1;
      throw new EndpointFailure("unreachable", "no connection");
    };
    const call = joinedCalls(broken, { clock: virtualClock(), accountsPerCall: 100 });
    const all = ["a", "b", "c"].map((each) => call("getMultipleAccounts", [[each], FINALIZED]));
    const outcomes = await Promise.allSettled(all);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(calls).toBe(1);
  });

  test.each([
    ["too few", { context: { slot: 5 }, value: ["account a"] }],
    ["none", null],
  ])("of a shared call that answers %s are asked for alone", async (_, garbled) => {
    const garbling: RpcCall = async (_method, [asked]) => {
      const list = asked as string[];
      return list.length > 1 ? garbled : told(6, ...list);
    };
    const call = joinedCalls(garbling, { clock: virtualClock(), accountsPerCall: 100 });
    const both = ["a", "b"].map((each) => call("getMultipleAccounts", [[each], FINALIZED]));
    expect(await Promise.all(both)).toEqual([told(6, "a"), told(6, "b")]);
  });
});
