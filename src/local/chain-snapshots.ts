/** Takes snapshots of a local chain while it goes on, and begins a chain with the newest one. */
import type { AccountHistory, PastAccount } from "./account-history.ts";
import type { Bank } from "./bank.ts";
import type { Blockhashes } from "./blockhashes.ts";
import type { FrozenAccounts, SnapshotAccount } from "./changed-accounts.ts";
import type { Journal } from "./journal.ts";
import type { JournaledSlots } from "./journaled-slots.ts";
import { LITESVM_VERSION } from "./litesvm.ts";
import type { SlotMark } from "./slot-clock.ts";
import { type Snapshot, SNAPSHOT_FORMAT, type SnapshotEntry } from "./snapshot.ts";
import { type SnapshotFolder, warnOfSnapshot } from "./snapshot-folder.ts";
import type { TokenOwners } from "./token-owners.ts";
import type { TransactionLog } from "./transaction-log.ts";

/** A snapshot with many accounts takes long to write: there is one account at most for so many of them to land. */
const ACCOUNTS_PER_TRANSACTION = 50;
/** Marks in one line. */
const MARKS_PER_LINE = 1_000;

/** Where snapshots are kept, and how many transactions lie between two of them at least. */
export interface SnapshotPolicy {
  readonly folder: SnapshotFolder;
  readonly every: number;
}

/** The parts of a chain that a snapshot is made of. */
export interface SnapshotParts {
  readonly journal: Journal;
  readonly bank: Bank;
  readonly slots: JournaledSlots;
  readonly history: AccountHistory;
  readonly log: TransactionLog;
  readonly blockhashes: Blockhashes;
  readonly tokenOwners: TokenOwners;
  /** From a wallet's name to the transaction that founded it. */
  readonly wallets: Map<string, string>;
  readonly finalizedAfter: number;
}

/** The snapshots of one chain. What goes wrong with them is only warned of: the journal holds everything. */
export class ChainSnapshots {
  readonly #parts: SnapshotParts;
  readonly #folder: SnapshotFolder;
  readonly #every: number;
  /** Transactions that landed after the newest snapshot. */
  #landed = 0;
  #writing: Promise<void> | undefined;

  constructor(parts: SnapshotParts, { folder, every }: SnapshotPolicy) {
    this.#parts = parts;
    this.#folder = folder;
    this.#every = every;
  }

  /** Before the journal is replayed: begins where the newest snapshot stands, if there is one. */
  restore(): void {
    const snapshot = this.#folder.newest();
    if (snapshot !== undefined && this.#fits(snapshot)) restoreParts(this.#parts, snapshot);
    this.#parts.log.begin();
  }

  /** A transaction landed, or was replayed. */
  landed(): void {
    this.#landed += 1;
  }

  /** Begins to write a snapshot if enough transactions have landed. Call it when everything of the last one is stored. */
  takeIfDue(): void {
    if (this.#writing !== undefined) return;
    const enough = Math.max(this.#every, this.#parts.bank.changed.size / ACCOUNTS_PER_TRANSACTION);
    if (this.#landed >= enough) this.#take();
  }

  /** Ends the one under way, and writes what came after it. */
  async close(): Promise<void> {
    await this.#writing;
    if (this.#landed > 0) this.#take();
    await this.#writing;
  }

  /** Whether the files are those that the snapshot speaks of. If not, the journal stays at its beginning. */
  #fits({ header }: Snapshot): boolean {
    const { journal, log, finalizedAfter } = this.#parts;
    const beginning = journal.mark();
    if (header.finalizedAfter < finalizedAfter) {
      warnOfSnapshot("is of a chain that is final earlier: the journal is replayed instead");
      return false;
    }
    if (!journal.skipTo(header.journal)) {
      warnOfSnapshot("does not belong to its journal, which is replayed instead");
      return false;
    }
    if (log.restore(header)) return true;
    warnOfSnapshot("does not belong to the notes beside it: the journal is replayed instead");
    journal.skipTo(beginning);
    return false;
  }

  #take(): void {
    const snapshot = capture(this.#parts);
    if (snapshot === undefined) return;
    this.#landed = 0;
    this.#writing = this.#write(snapshot);
  }

  async #write(snapshot: Snapshot): Promise<void> {
    const { journal, log, bank } = this.#parts;
    try {
      await this.#folder.write(snapshot, async () => {
        await journal.sync();
        await log.sync();
      });
    } catch (error) {
      warnOfSnapshot(`could not be written (${(error as Error).message}): the next start takes longer`);
    } finally {
      bank.changed.thaw();
      this.#writing = undefined;
    }
  }
}

/** `undefined` when the files do not say what the chain is: a line could not be written, or has not been yet. */
function capture(parts: SnapshotParts): Snapshot | undefined {
  const { journal, bank, slots, blockhashes, wallets, finalizedAfter } = parts;
  const log = parts.log.mark();
  if (log === undefined || !slots.isResumed) return undefined;
  const { marks, seen, reached } = slots.written();
  const past = parts.history.all();
  return {
    header: {
      kind: "snapshot",
      format: SNAPSHOT_FORMAT,
      litesvm: LITESVM_VERSION,
      finalizedAfter,
      journal: journal.mark(),
      ...log,
      seen,
      reached,
      forks: blockhashes.forks,
      wallets: [...wallets],
      lamportsPerByte: bank.lamportsPerByte?.toString() ?? null,
    },
    entries: entriesOf({ marks, past, accounts: bank.changed.freeze((address) => bank.account(address)) }),
  };
}

/** What there is much of. */
interface Bulk {
  readonly marks: readonly SlotMark[];
  readonly past: readonly PastAccount[];
  readonly accounts: FrozenAccounts;
}

function* entriesOf({ marks, past, accounts }: Bulk): Generator<SnapshotEntry> {
  for (let index = 0; index < marks.length; index += MARKS_PER_LINE) {
    yield { kind: "marks", marks: marks.slice(index, index + MARKS_PER_LINE) };
  }
  for (const account of accounts.all()) yield { kind: "account", ...account };
  for (const one of past) yield { kind: "past", ...one };
}

function restoreParts(parts: SnapshotParts, { header, entries }: Snapshot): void {
  const { bank, slots, history, blockhashes, tokenOwners, wallets } = parts;
  const accounts: SnapshotAccount[] = [];
  for (const entry of entries) {
    switch (entry.kind) {
      case "marks":
        for (const mark of entry.marks) slots.replayMark(mark);
        break;
      case "account":
        tokenOwners.note(entry.address, entry.account);
        accounts.push(entry);
        break;
      case "past":
        tokenOwners.note(entry.address, entry.before);
        history.note(entry.slot, entry.address, entry.before);
        break;
    }
  }
  slots.replaySeen(header.seen);
  slots.reach(header.reached);
  for (const fork of header.forks) blockhashes.forkAfter(fork);
  for (const [name, founding] of header.wallets) wallets.set(name, founding);
  if (header.lamportsPerByte !== null) bank.setRent(BigInt(header.lamportsPerByte));
  bank.restore(accounts, { slot: header.reached, time: slots.timeOf(header.reached) });
}
