/** Lets callers who ask a node at the same moment share one call: the same read is made once, accounts are read together. */
import type { Clock } from "../../core/runtime.ts";
import { asEndpointFailure, expectShape, isAboutQuestion } from "../endpoint-failure.ts";
import { BatchQueue, type BatchQueueParts } from "./batch-queue.ts";
import { fulfilled, isObject, type Outcome, type RpcCall } from "./rpc-call.ts";

interface JoinedCallParts {
  readonly clock: Clock;
  /** Accounts in one getMultipleAccounts call at most. */
  readonly accountsPerCall: number;
}

/** Reads whose answer depends on nothing but their parameters. What sends or tries a transaction is never shared. */
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

/**
 * Merges calls to one node into fewer calls. A caller only joins a call that has not been sent yet, so no answer was
 * read before the caller asked: proof of a death, or of a refused cancel, is as fresh as from a call of its own.
 * Accounts in one caller's call stay in one call, and so in one block.
 */
export function joinedCalls(call: RpcCall, { clock, accountsPerCall }: JoinedCallParts): RpcCall {
  const carriers = new Carriers(clock);
  return async (method, params) => {
    if (SHARED_READS.has(method)) {
      const send = async (askers: readonly unknown[]): Promise<readonly Outcome[]> => {
        const answer = await call(method, params).catch(asFailure);
        return askers.map(() => fulfilled(answer));
      };
      const carrier = carriers.of(`${method} ${JSON.stringify(params)}`, { capacity: Infinity, send });
      return await carrier.ask([], 1);
    }
    const [addresses, query] = params;
    if (method !== "getMultipleAccounts" || !isListOfText(addresses)) return await call(method, params);
    const read = (list: List): Promise<unknown> => call(method, [list, query]);
    const send = (lists: readonly List[]): Promise<readonly Outcome[]> => readTogether(read, lists);
    const carrier = carriers.of(`${method} ${JSON.stringify(query)}`, { capacity: accountsPerCall, send });
    return await carrier.ask(addresses, addresses.length);
  };
}

type List = readonly string[];
type Load = Pick<BatchQueueParts<List, unknown>, "capacity" | "send">;

/** Active carriers, by the kind of their calls. */
class Carriers {
  readonly #clock: Clock;
  readonly #carriers = new Map<string, BatchQueue<List, unknown>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(key: string, load: Load): BatchQueue<List, unknown> {
    const known = this.#carriers.get(key);
    if (known !== undefined) return known;
    const idle = (): void => void this.#carriers.delete(key);
    const made = new BatchQueue<List, unknown>({ ...load, clock: this.#clock, idle });
    this.#carriers.set(key, made);
    return made;
  }
}

/**
 * Reads all lists in one call; if the node refuses, reads each list in its own call, so that a bad list fails alone.
 */
async function readTogether(
  read: (list: List) => Promise<unknown>,
  lists: readonly List[],
): Promise<readonly Outcome[]> {
  const [first = [], ...others] = lists;
  if (others.length === 0) return [fulfilled(await read(first).catch(asFailure))];
  const addresses = [...new Set(lists.flat())];
  try {
    const { context, accounts } = accountsIn(await read(addresses), addresses);
    return lists.map((list) => fulfilled({ context, value: list.map((each) => accounts.get(each)) }));
  } catch (error) {
    const failure = asEndpointFailure(error);
    if (!isAboutQuestion(failure)) throw failure;
  }
  return await Promise.allSettled(lists.map(read));
}

/** Splits the answer without checking the accounts: each caller checks its own accounts. */
function accountsIn(
  answer: unknown,
  addresses: List,
): { readonly context: unknown; readonly accounts: ReadonlyMap<string, unknown> } {
  expectShape(isObject(answer), "accounts");
  const { context, value } = answer;
  expectShape(Array.isArray(value) && value.length === addresses.length, "number of accounts");
  return {
    context,
    accounts: new Map(addresses.map((address, index) => [address, value[index] as unknown])),
  };
}

/** Every joined caller gets the same error, which counts once against the endpoint. */
function asFailure(error: unknown): never {
  throw asEndpointFailure(error);
}

function isListOfText(value: unknown): value is List {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
