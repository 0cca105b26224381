/** The undo log: accounts as they were before recent slots changed them. Serves older views and fork rollback. */
import type { AccountState } from "./account-state.ts";

interface Change {
  readonly slot: number;
  readonly before: AccountState | null;
}

/** Keeps, per account and slot, the state before that slot's first change. */
export class AccountHistory {
  readonly #changes = new Map<string, Change[]>();
  readonly #addressesBySlot = new Map<number, Set<string>>();

  /** Notes what `address` held before a transaction of `slot`. Only the first note of a slot counts. */
  note(slot: number, address: string, before: AccountState | null): void {
    const changes = this.#changes.get(address) ?? [];
    if (changes.at(-1)?.slot === slot) return;
    changes.push({ slot, before });
    this.#changes.set(address, changes);
    const addresses = this.#addressesBySlot.get(slot) ?? new Set();
    addresses.add(address);
    this.#addressesBySlot.set(slot, addresses);
  }

  /** The account of `address` at the end of `slot`; `undefined` when it is still the same. */
  asOf(slot: number, address: string): AccountState | null | undefined {
    return this.#changes.get(address)?.find((change) => change.slot > slot)?.before;
  }

  /** Every account changed after `slot`, with what it held at the end of that slot. */
  changedSince(slot: number): Map<string, AccountState | null> {
    const states = new Map<string, AccountState | null>();
    for (const [changedIn, addresses] of this.#addressesBySlot) {
      if (changedIn <= slot) continue;
      for (const address of addresses) states.set(address, this.asOf(slot, address) ?? null);
    }
    return states;
  }

  /** Drops the notes of slots after `slot`, once their changes have been undone. */
  forgetAfter(slot: number): void {
    this.#forget((noted) => noted > slot);
  }

  /** Drops the notes of slots up to and including `slot`: no view reaches further back. */
  forgetUpTo(slot: number): void {
    this.#forget((noted) => noted <= slot);
  }

  #forget(isForgotten: (slot: number) => boolean): void {
    for (const [slot, addresses] of this.#addressesBySlot) {
      if (!isForgotten(slot)) continue;
      this.#addressesBySlot.delete(slot);
      for (const address of addresses) {
        const kept = this.#changes.get(address)?.filter((change) => change.slot !== slot) ?? [];
        if (kept.length === 0) this.#changes.delete(address);
        else this.#changes.set(address, kept);
      }
    }
  }
}
