/** A storage that can be closed while it is used: what is asked of it afterwards is noted, and fails as it does with a driver. */
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";

/** The storage, and what happens to it. */
export interface ClosingStorage {
  readonly storage: PaymentStorage;
  /** The calls that came when it was closed, in their order. */
  readonly late: readonly string[];
  /** Calls `act` once, when so many more calls have come. */
  after(calls: number, act: () => void): void;
  /** Does not wait for more calls. */
  now(): void;
  /** From now on nothing may be asked. */
  close(): Promise<void>;
  isClosed(): boolean;
  reopen(): void;
  /** Closes the storage itself. */
  end(): Promise<void>;
}

/** What answers at once, and asks no database. */
const AT_ONCE: ReadonlySet<string> = new Set(["onWake"]);

export function closingStorage(storage: PaymentStorage): ClosingStorage {
  const late: string[] = [];
  let isClosed = false;
  let left = Infinity;
  let act = (): void => {};
  const count = (): void => {
    left -= 1;
    if (left >= 0) return;
    left = Infinity;
    act();
  };
  const called = async (name: string, call: () => Promise<unknown>): Promise<unknown> => {
    if (isClosed) {
      late.push(name);
      throw new TypeError("The database connection is not open");
    }
    count();
    const answer = await call();
    // A database is not in this process.
    await new Promise(setImmediate);
    return answer;
  };
  const methods = Object.entries(storage).map(([name, method]: [string, (...given: never[]) => unknown]) => [
    name,
    AT_ONCE.has(name) ? method : (...given: never[]) => called(name, async () => method(...given)),
  ]);
  return {
    storage: Object.fromEntries(methods) as PaymentStorage,
    late,
    after(calls, then) {
      left = calls;
      act = then;
    },
    now() {
      if (left === Infinity) return;
      left = Infinity;
      act();
    },
    async close() {
      isClosed = true;
    },
    isClosed: () => isClosed,
    reopen: () => void (isClosed = false),
    end: () => storage.close(),
  };
}
