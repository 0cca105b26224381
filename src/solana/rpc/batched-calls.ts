/** Lets different reads of one moment travel to a node in one HTTP request, as a batch of JSON-RPC 2.0. */
import type { Clock } from "../../core/runtime.ts";
import { isTooLarge } from "../endpoint-failure.ts";
import {
  MAX_BATCH_BYTES,
  CallWriter,
  singleCalls,
  type Outcome,
  type RpcBatchFetch,
  type RpcCall,
  type WrittenCall,
} from "./rpc-call.ts";
import { BatchQueue } from "./batch-queue.ts";
import type { CallRateLimit } from "./call-rate-limit.ts";

interface BatchedCallParts {
  readonly clock: Clock;
  /** Calls in one request at most. */
  readonly callsPerBatch: number;
  /** A batch is no larger than what may be asked at once; null where the provider sets no limit. */
  readonly pace: CallRateLimit | null;
}

// A batch is answered when its slowest call is. So a batch contains only reads with bounded work, and reads of history
// are batched separately. Not in any list: calls that send or simulate a transaction; blocks; and all token accounts of
// an owner, whom strangers can give any number of accounts.
const STATE = [
  "getAccountInfo",
  "getBalance",
  "getEpochInfo",
  "getFeeForMessage",
  "getGenesisHash",
  "getLatestBlockhash",
  "getMinimumBalanceForRentExemption",
  "getMultipleAccounts",
  "getRecentPrioritizationFees",
  "getSlot",
  "isBlockhashValid",
];
const HISTORY = [
  "getBlockTime",
  "getFirstAvailableBlock",
  "getSignatureStatuses",
  "getSignaturesForAddress",
  "getTransaction",
];

/**
 * Batches calls to a node into fewer requests. A call only joins a request that has not left yet, so no answer is older
 * than its question. Other calls are sent alone and at once.
 */
export function batchedCalls(post: RpcBatchFetch, batching: BatchedCallParts): RpcCall {
  const alone = singleCalls(post);
  const writer = new CallWriter();
  const carriers = new Map(
    [STATE, HISTORY].flatMap((methods) => {
      const carrier = carrierOf(post, batching);
      return methods.map((method) => [method, carrier] as const);
    }),
  );
  // A call that is larger than its share of a request takes the place of several.
  const share = shareOf(batching);
  return async (method, params) => {
    const carrier = carriers.get(method);
    if (carrier === undefined) return await alone(method, params);
    const call = writer.write(method, params);
    return await carrier.ask(call, Math.max(share, call.text.length));
  };
}

function shareOf({ callsPerBatch }: BatchedCallParts): number {
  return Math.floor(MAX_BATCH_BYTES / callsPerBatch);
}

function carrierOf(post: RpcBatchFetch, batching: BatchedCallParts): BatchQueue<WrittenCall, unknown> {
  const { clock, callsPerBatch, pace } = batching;
  return new BatchQueue({
    clock,
    get capacity() {
      return Math.min(callsPerBatch, pace?.burst ?? callsPerBatch) * shareOf(batching);
    },
    send: (calls) => together(post, calls),
    idle: () => undefined,
  });
}

/**
 * Sends calls in one request; if the answers are too large, sends each call in a request of its own, so that a call
 * fails alone.
 */
async function together(post: RpcBatchFetch, calls: readonly WrittenCall[]): Promise<readonly Outcome[]> {
  const outcomes = await post(calls);
  const isAnyTooLarge = outcomes.some(
    (outcome) => outcome.status === "rejected" && isTooLarge(outcome.reason),
  );
  if (calls.length === 1 || !isAnyTooLarge) return outcomes;
  return (await Promise.all(calls.map((call) => post([call])))).flat();
}
