/** The file that a local chain is stored in: one JSON line per event. The next start replays those after its snapshot. */
import { AppendedFile, type FileMark } from "./appended-file.ts";
import type { SlotMark } from "./slot-clock.ts";

/** The first line: everything the chain's beginning is computed from. */
export interface GenesisEntry extends SlotMark {
  readonly kind: "genesis";
  readonly format: 1;
  /** All of the chain's own keys are derived from it: it is a secret as far as a local chain has any. */
  readonly seed: string;
}

/** What a journal line after the first says. */
export type JournalEntry =
  /** From here slots run on (the chain was restarted, or advanced by hand). */
  | ({ readonly kind: "mark" } & SlotMark)
  /** No client was shown a slot above this one. */
  | { readonly kind: "seen"; readonly slot: number }
  /** A transaction landed; `wallet` is the name of the wallet it founded, if it did. */
  | { readonly kind: "transaction"; readonly slot: number; readonly bytes: string; readonly wallet?: string }
  /** The blocks after `toSlot` were abandoned. */
  | { readonly kind: "rollback"; readonly slot: number; readonly toSlot: number }
  /** The price of storage changed. */
  | { readonly kind: "rent"; readonly slot: number; readonly lamportsPerByte: string };

/** Where a chain remembers. `append` returns once the entry survives the death of the process, or throws. */
export interface Journal {
  readonly genesis: GenesisEntry | undefined;
  /** The entries after the place, to be read once, before the first `append`. Throws at a damaged line. */
  entries(): Iterable<JournalEntry>;
  append(entry: GenesisEntry | JournalEntry): void;
  /** Everything that was read and written so far. */
  mark(): FileMark;
  /** Leaves out the entries up to `mark`, if the journal holds exactly what it held then. */
  skipTo(mark: FileMark): boolean;
  /** What was written survives a power failure, too. */
  sync(): Promise<void>;
  close(): void;
}

/** A journal that remembers nothing: the chain ends with the process. */
export const noJournal: Journal = {
  genesis: undefined,
  entries: () => [],
  append() {},
  mark: () => ({ length: 0, lines: 0, digest: "" }),
  skipTo: () => false,
  sync: () => Promise.resolve(),
  close() {},
};

/**
 * Opens or creates the journal at `path`, readable by its owner only. A last line without its newline is what a
 * killed process left of a write that was never acknowledged: it is cut off. Any other damage throws when it is read.
 */
export function openJournal(path: string): Journal {
  try {
    return new JournalFile(new AppendedFile(path));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === undefined) throw cause;
    const { message } = cause as Error;
    throw new Error(
      `the chain's journal cannot be used (${message}): make it writable or choose another place`,
      {
        cause,
      },
    );
  }
}

class JournalFile implements Journal {
  readonly genesis: GenesisEntry | undefined;
  readonly #file: AppendedFile;

  constructor(file: AppendedFile) {
    this.#file = file;
    for (const line of file.next()) {
      const entry = parseLine(line);
      if (entry?.kind !== "genesis") throw this.#damaged();
      this.genesis = entry;
      break;
    }
  }

  *entries(): Generator<JournalEntry> {
    for (const line of this.#file.next()) {
      const entry = parseLine(line);
      if (entry === undefined || entry.kind === "genesis") throw this.#damaged();
      yield entry;
    }
  }

  append(entry: GenesisEntry | JournalEntry): void {
    // Two chains in one file would not replay. No other process may have written since we last did.
    if (!this.#file.isAtEnd()) {
      throw new Error(
        `The journal ${this.#file.path} was written to by another process: stop one of the two.`,
      );
    }
    this.#file.append(JSON.stringify(entry));
  }

  mark(): FileMark {
    return this.#file.mark();
  }

  skipTo(mark: FileMark): boolean {
    return this.#file.goTo(mark);
  }

  sync(): Promise<void> {
    return this.#file.sync();
  }

  close(): void {
    this.#file.close();
  }

  /** About the line that was read last. */
  #damaged(): Error {
    return new Error(
      `The journal ${this.#file.path} cannot be read at line ${this.#file.mark().lines}: restore it from a copy, or delete it to begin a new chain.`,
    );
  }
}

function parseLine(line: string): GenesisEntry | JournalEntry | undefined {
  try {
    const entry = JSON.parse(line) as GenesisEntry | JournalEntry | null;
    return entry ?? undefined;
  } catch {
    return undefined;
  }
}
