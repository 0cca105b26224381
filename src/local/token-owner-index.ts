/** Remembers token accounts that may belong to an owner: a view still has to check these candidates. */
import type { AccountState } from "./account-state.ts";
import { readTokenAccount } from "./token-layout.ts";

/**
 * Index from owner to token accounts. It only grows: an account that was closed or handed over stays a candidate of
 * its former owner: views of older slots and rollbacks need no index of their own.
 */
export class TokenOwnerIndex {
  readonly #candidates = new Map<string, Set<string>>();

  /** Notes the owner of `address`, if it is a token account. */
  note(address: string, account: AccountState | null): void {
    const owner = readTokenAccount(account)?.owner;
    if (owner === undefined) return;
    const candidates = this.#candidates.get(owner) ?? new Set();
    candidates.add(address);
    this.#candidates.set(owner, candidates);
  }

  /** The addresses that were token accounts of `owner` at some time. */
  candidates(owner: string): Iterable<string> {
    return this.#candidates.get(owner) ?? [];
  }
}
