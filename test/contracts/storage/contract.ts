/** What a case of the storage contract is, and how it gets its storage. */
import type { EngineStorage, HostTransaction } from "../../../storage/storage.ts";
import { paymentStorage, type PaymentStorage } from "../../../src/payments/payment-storage.ts";

/** An empty database of the adapter under test. */
export interface StorageUnderTest {
  /**
   * Opens the database: each call gives another handle on the same data, as another process would have. An adapter
   * that lives in one process only gives the same storage again.
   */
  open(): Promise<EngineStorage>;
  /** A connection of a host to this database. Absent where a host can have no transaction in it. */
  host?(): Promise<ContractHost>;
  /** Removes the database. Every handle is closed by then. */
  destroy(): Promise<void>;
}

/** A host's own connection, on which it opens and ends its transactions. */
export interface ContractHost {
  readonly transaction: HostTransaction;
  ask(statement: "begin" | "commit" | "rollback"): Promise<unknown>;
  close(): Promise<unknown>;
}

/** One promise of the port, named as a sentence. */
export interface StorageContractCase {
  readonly name: string;
  /** Rejects when the promise is broken. Needs no test framework. */
  run(makeStorage: () => Promise<StorageUnderTest>): Promise<void>;
}

/** What a case works with: two handles on one database, and the way to close all and open it again. */
export interface Handles {
  readonly storage: PaymentStorage;
  readonly other: PaymentStorage;
  reopen(): Promise<PaymentStorage>;
  /** Null where there are none. */
  host(): Promise<ContractHost | null>;
}

export function promise(name: string, holds: (handles: Handles) => Promise<void>): StorageContractCase {
  return {
    name,
    async run(makeStorage) {
      const underTest = await makeStorage();
      const open: PaymentStorage[] = [];
      const opened = async (): Promise<PaymentStorage> => {
        const storage = paymentStorage(await underTest.open());
        open.push(storage);
        return storage;
      };
      const closeAll = async (): Promise<void> => {
        for (const storage of open.splice(0)) await storage.close();
      };
      try {
        const [storage, other] = [await opened(), await opened()];
        const reopen = async (): Promise<PaymentStorage> => closeAll().then(opened);
        const host = async (): Promise<ContractHost | null> => (await underTest.host?.()) ?? null;
        await holds({ storage, other, reopen, host });
      } finally {
        await closeAll();
        await underTest.destroy();
      }
    },
  };
}
