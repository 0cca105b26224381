/** Which accounts differ from those that every chain begins with, and what they hold while a snapshot is written. */
import type { AccountState } from "./account-state.ts";

/** An account as a snapshot holds it. */
export interface SnapshotAccount {
  readonly address: string;
  /** No chain begins with it: once it is gone, nothing has to be remembered of it. */
  readonly isNew: boolean;
  readonly account: AccountState | null;
}

/**
 * The accounts of one moment. They are read one by one while the chain goes on: what changes before it was read is kept
 * as it was.
 */
export class FrozenAccounts {
  readonly #pending: Map<string, boolean>;
  readonly #read: (address: string) => AccountState | null;
  readonly #kept = new Map<string, AccountState | null>();

  constructor(pending: ReadonlyMap<string, boolean>, read: (address: string) => AccountState | null) {
    this.#pending = new Map(pending);
    this.#read = read;
  }

  /** Before `address` changes from `before`. */
  keep(address: string, before: AccountState | null): void {
    if (this.#pending.has(address) && !this.#kept.has(address)) this.#kept.set(address, before);
  }

  /** Each account once. */
  *all(): Generator<SnapshotAccount> {
    for (const [address, isNew] of this.#pending) {
      const kept = this.#kept.get(address);
      const account = kept === undefined ? this.#read(address) : kept;
      this.#pending.delete(address);
      this.#kept.delete(address);
      yield { address, isNew, account };
    }
  }
}

/** The addresses of all accounts that were ever changed, as far as their accounts still differ. */
export class ChangedAccounts {
  /** From the address to whether the account is new. */
  readonly #changed = new Map<string, boolean>();
  #frozen: FrozenAccounts | undefined;

  /** An account changed. */
  note(address: string, before: AccountState | null, after: AccountState | null): void {
    this.#frozen?.keep(address, before);
    const isNew = this.#changed.get(address) ?? before === null;
    if (isNew && after === null) this.#changed.delete(address);
    else this.#changed.set(address, isNew);
  }

  /** An account came out of a snapshot. */
  restore({ address, isNew }: SnapshotAccount): void {
    this.#changed.set(address, isNew);
  }

  /** How many there are. */
  get size(): number {
    return this.#changed.size;
  }

  /** The accounts as they are now, until `thaw`; `read` tells what an account holds at the time of the call. */
  freeze(read: (address: string) => AccountState | null): FrozenAccounts {
    this.#frozen = new FrozenAccounts(this.#changed, read);
    return this.#frozen;
  }

  /** Nobody reads the frozen accounts any more. */
  thaw(): void {
    this.#frozen = undefined;
  }
}
