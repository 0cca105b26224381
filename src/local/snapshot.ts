/** What a snapshot of a local chain holds, and how it is written as lines of JSON. */
import type { AccountState } from "./account-state.ts";
import type { PastAccount } from "./account-history.ts";
import type { FileMark } from "./appended-file.ts";
import type { SnapshotAccount } from "./changed-accounts.ts";
import type { SlotMark } from "./slot-clock.ts";

/** Snapshots of another format are not read: the journal is replayed. */
export const SNAPSHOT_FORMAT = 1;

/** The first line: what is small. */
export interface SnapshotHeader {
  readonly kind: "snapshot";
  readonly format: typeof SNAPSHOT_FORMAT;
  /** The version whose runs the snapshot is the result of. */
  readonly litesvm: string;
  /** Older accounts are kept for the views of a chain with this depth. */
  readonly finalizedAfter: number;
  /** The part of the journal that the snapshot stands for. */
  readonly journal: FileMark;
  /** The notes of that part's transactions, abandoned ones among them. */
  readonly notes: FileMark;
  /** Bytes of the history that the notes point into. */
  readonly history: number;
  /** How many transactions stand. */
  readonly transactions: number;
  /** The highest slot that may be answered, and the highest in which something happened. */
  readonly seen: number;
  readonly reached: number;
  /** Slots after which the chain forked off. */
  readonly forks: readonly number[];
  /** Names, each with the signature of the transaction that founded the wallet. */
  readonly wallets: readonly (readonly [string, string])[];
  /** Null while the price of storage was never changed. */
  readonly lamportsPerByte: string | null;
}

/** What the other lines say, in this order. */
export type SnapshotEntry =
  | { readonly kind: "marks"; readonly marks: readonly SlotMark[] }
  | ({ readonly kind: "account" } & SnapshotAccount)
  | ({ readonly kind: "past" } & PastAccount);

/** A snapshot as it is written: the entries are asked for little by little, and stay those of one moment. */
export interface Snapshot {
  readonly header: SnapshotHeader;
  readonly entries: Iterable<SnapshotEntry>;
}

interface WrittenAccount {
  readonly lamports: string;
  /** Base64. */
  readonly data: string;
  readonly owner: string;
  readonly executable: boolean;
}

/** The line of an entry, without its newline. */
export function encodeEntry(entry: SnapshotEntry): string {
  switch (entry.kind) {
    case "marks":
      return JSON.stringify(entry);
    case "account":
      return JSON.stringify({ ...entry, account: written(entry.account) });
    case "past":
      return JSON.stringify({ ...entry, before: written(entry.before) });
  }
}

/** The entry of a line that `encodeEntry` wrote; `undefined` for any other line. */
export function decodeEntry(line: string): SnapshotEntry | undefined {
  const entry = JSON.parse(line) as
    | { readonly kind: "end" }
    | Extract<SnapshotEntry, { kind: "marks" }>
    | (Omit<Extract<SnapshotEntry, { kind: "account" }>, "account"> & { account: WrittenAccount | null })
    | (Omit<Extract<SnapshotEntry, { kind: "past" }>, "before"> & { before: WrittenAccount | null });
  switch (entry.kind) {
    case "marks":
      return entry;
    case "account":
      return { ...entry, account: read(entry.account) };
    case "past":
      return { ...entry, before: read(entry.before) };
    case "end":
      return undefined;
  }
}

function written(account: AccountState | null): WrittenAccount | null {
  if (account === null) return null;
  const { lamports, data, owner, executable } = account;
  return { lamports: lamports.toString(), data: Buffer.from(data).toString("base64"), owner, executable };
}

function read(account: WrittenAccount | null): AccountState | null {
  if (account === null) return null;
  const { lamports, data, owner, executable } = account;
  // A copy: small buffers share memory that would be kept as long as any of them.
  return {
    lamports: BigInt(lamports),
    data: Uint8Array.from(Buffer.from(data, "base64")),
    owner,
    executable,
  };
}
