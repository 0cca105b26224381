/**
 * Lets callers who ask a node at the same moment share its work: the same read is made once; accounts are read together; and
 * different reads travel in one HTTP request, as a batch of JSON-RPC 2.0, where the endpoint takes batches.
 */
import type { Clock } from "../../core/runtime.ts";
import { asEndpointFailure, expectShape, isAboutQuestion, isTooLarge } from "../endpoint-failure.ts";
import type { CallRateLimit } from "./call-rate-limit.ts";
import {
  CallWriter,
  isObject,
  MAX_BATCH_BYTES,
  rejected,
  resultOf,
  type Outcome,
  type RpcBatchFetch,
  type RpcCall,
} from "./rpc-call.ts";

interface CallQueueParts {
  readonly clock: Clock;
  /** Accounts in one getMultipleAccounts call at most. */
  readonly accountsPerCall: number;
  /** Calls in one request at most. */
  readonly callsPerBatch: number;
  /** A batch is no larger than what may be asked at once; null where the provider sets no limit. */
  readonly pace: CallRateLimit | null;
}

/** Reads whose answer depends on nothing but their parameters. A call that sends or tries a transaction is never shared. */
const SHARED_READS: ReadonlySet<string> = new Set([
  "getAccountInfo",
  "getBalance",
  "getEpochInfo",
  "getFirstAvailableBlock",
  "getGenesisHash",
  "getLatestBlockhash",
  "getMinimumBalanceForRentExemption",
  "getRecentPrioritizationFees",
  "getSlot",
  "getTokenAccountsByOwner",
  "getTransaction",
  "isBlockhashValid",
]);

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
const BATCHES: ReadonlyMap<string, string> = new Map([
  ...STATE.map((method) => [method, "state"] as const),
  ...HISTORY.map((method) => [method, "history"] as const),
]);

const ACCOUNTS = "getMultipleAccounts";
// While a request is under way the next one fills up, for this long at most: a hanging call must not hold up others.
const MAX_WAIT_MS = 10;

/** A call that somebody waits for. Calls of one key can be answered by one call; null: by none but its own. */
interface Wanted {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly key: string | null;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** The calls that wait to leave together. */
interface Lane {
  readonly name: string;
  wanted: Wanted[];
  size: number;
  underWay: number;
  /** Counts departures and their plans: a plan that is not the last is void. */
  plans: number;
}

/**
 * The calls to one node through `post`. A caller only joins a request that has not been sent yet, so no answer was read before
 * the caller asked: proof of a death, or of a refused cancel, is as fresh as from a call of its own. Accounts in one caller's
 * call stay in one call, and so in one block. A call that cannot be shared leaves alone and at once.
 */
export function queuedCalls(post: RpcBatchFetch, parts: CallQueueParts): RpcCall {
  const queue = new CallQueue(post, parts);
  return (method, params) => queue.call(method, params);
}

class CallQueue {
  readonly #post: RpcBatchFetch;
  readonly #parts: CallQueueParts;
  readonly #writer = new CallWriter();
  readonly #lanes = new Map<string, Lane>();

  constructor(post: RpcBatchFetch, parts: CallQueueParts) {
    this.#post = post;
    this.#parts = parts;
  }

  /**
   * A call leaves at the end of the turn in which it was asked. While others of its lane are under way it waits until one of
   * them has arrived, the next request is full, or 10 ms have passed.
   */
  async call(method: string, params: readonly unknown[]): Promise<unknown> {
    const key = keyOf(method, params);
    const name = (this.#parts.callsPerBatch > 1 ? BATCHES.get(method) : undefined) ?? key;
    if (name === null) return resultOf((await this.#send([{ method, params }]))[0]);
    const lane = this.#lanes.get(name) ?? { name, wanted: [], size: 0, underWay: 0, plans: 0 };
    this.#lanes.set(name, lane);
    const { size, room } = this.#sizeIn(lane, params);
    if (lane.size > 0 && lane.size + size > room) void this.#leave(lane);
    return await new Promise((resolve, reject) => {
      lane.wanted.push({ method, params, key, resolve, reject });
      lane.size += size;
      if (lane.wanted.length === 1) this.#plan(lane);
    });
  }

  /** The size of a call, and how much one request of its lane may hold: of bytes or calls, of accounts, or of anything. */
  #sizeIn(lane: Lane, params: readonly unknown[]): { readonly size: number; readonly room: number } {
    const { callsPerBatch, accountsPerCall, pace } = this.#parts;
    const [addresses] = params;
    if (!BATCH_NAMES.has(lane.name)) {
      return { size: isListOfText(addresses) ? addresses.length : 0, room: accountsPerCall };
    }
    // A call that is larger than its share of a request takes the place of several.
    const share = Math.floor(MAX_BATCH_BYTES / callsPerBatch);
    const room = Math.min(callsPerBatch, pace?.burst ?? callsPerBatch) * share;
    return { size: Math.max(share, JSON.stringify(params).length + FRAME_BYTES), room };
  }

  #plan(lane: Lane): void {
    const plan = (lane.plans += 1);
    const leave = (): void => {
      if (plan === lane.plans) void this.#leave(lane);
    };
    if (lane.underWay === 0) setImmediate(leave);
    else void this.#parts.clock.sleep(MAX_WAIT_MS).then(leave);
  }

  async #leave(lane: Lane): Promise<void> {
    const calls = sharedBy(lane.wanted, this.#parts.accountsPerCall);
    lane.wanted = [];
    lane.size = 0;
    lane.plans += 1;
    lane.underWay += 1;
    const outcomes = await this.#send(calls).catch((reason: unknown) => calls.map(() => rejected(reason)));
    for (const [index, call] of calls.entries()) this.#tell(call, outcomes[index]);
    lane.underWay -= 1;
    if (lane.wanted.length > 0) void this.#leave(lane);
    else if (lane.underWay === 0) this.#lanes.delete(lane.name);
  }

  /** Sends calls in one request; if the answers are too large, each in a request of its own, so that a call fails alone. */
  async #send(calls: readonly AskedCall[]): Promise<readonly Outcome[]> {
    const written = calls.map(({ method, params }) => this.#writer.write(method, params));
    const outcomes = await this.#post(written);
    if (calls.length === 1 || !outcomes.some(isOfTooMuch)) return outcomes;
    return (await Promise.all(written.map((call) => this.#post([call])))).flat();
  }

  /** Every caller who shares a call gets the same error, which counts once against the endpoint. */
  #tell({ callers, params, method }: SharedCall, outcome: Outcome | undefined): void {
    const areListsJoined = method === ACCOUNTS && callers.length > 1;
    try {
      const answer = resultOf(outcome);
      const part = areListsJoined ? partsOf(answer, listOf(params)) : () => answer;
      for (const { resolve, params: asked } of callers) resolve(part(listOf(asked)));
    } catch (error) {
      const failure = asEndpointFailure(error);
      // A list that the node refuses fails alone.
      if (areListsJoined && isAboutQuestion(failure)) for (const each of callers) void this.#sendAlone(each);
      else for (const { reject } of callers) reject(failure);
    }
  }

  async #sendAlone({ method, params, resolve, reject }: Wanted): Promise<void> {
    try {
      resolve(resultOf((await this.#send([{ method, params }]))[0]));
    } catch (error) {
      reject(error);
    }
  }
}

type List = readonly string[];
type AskedCall = Pick<Wanted, "method" | "params">;

/** A call with its callers. */
interface SharedCall extends AskedCall {
  readonly callers: readonly Wanted[];
}

const BATCH_NAMES: ReadonlySet<string> = new Set(BATCHES.values());
// The bytes of a call besides its parameters.
const FRAME_BYTES = 90;

function keyOf(method: string, params: readonly unknown[]): string | null {
  if (SHARED_READS.has(method)) return `${method} ${JSON.stringify(params)}`;
  const [addresses, query] = params;
  return method === ACCOUNTS && isListOfText(addresses) ? `${method} ${JSON.stringify(query)}` : null;
}

/** As few calls as answer all of them, in the order in which they were asked. */
function sharedBy(wanted: readonly Wanted[], accountsPerCall: number): readonly SharedCall[] {
  const calls: SharedCall[] = [];
  const open = new Map<string, number>();
  for (const each of wanted) {
    const at = each.key === null ? undefined : open.get(each.key);
    const joined = at === undefined ? null : joinedWith(calls[at], each, accountsPerCall);
    if (at !== undefined && joined !== null) {
      calls[at] = joined;
      continue;
    }
    if (each.key !== null) open.set(each.key, calls.length);
    calls.push({ method: each.method, params: each.params, callers: [each] });
  }
  return calls;
}

/** Null where the accounts of both are more than one call takes. */
function joinedWith(
  call: SharedCall | undefined,
  wanted: Wanted,
  accountsPerCall: number,
): SharedCall | null {
  if (call === undefined) return null;
  const callers = [...call.callers, wanted];
  if (call.method !== ACCOUNTS) return { ...call, callers };
  const [, query] = call.params;
  const addresses = [...new Set([...listOf(call.params), ...listOf(wanted.params)])];
  return addresses.length > accountsPerCall ? null : { ...call, params: [addresses, query], callers };
}

/** Splits the answer without checking the accounts: each caller checks its own accounts. */
function partsOf(answer: unknown, asked: List): (addresses: List) => unknown {
  expectShape(isObject(answer), "accounts");
  const { context, value } = answer;
  expectShape(Array.isArray(value) && value.length === asked.length, "number of accounts");
  const accounts = new Map(asked.map((address, index) => [address, value[index] as unknown]));
  return (addresses) => ({ context, value: addresses.map((each) => accounts.get(each)) });
}

function listOf([addresses]: readonly unknown[]): List {
  return isListOfText(addresses) ? addresses : [];
}

function isListOfText(value: unknown): value is List {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function isOfTooMuch(outcome: Outcome): boolean {
  return outcome.status === "rejected" && isTooLarge(outcome.reason);
}
