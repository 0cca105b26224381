/** The file that a local chain is stored in: one JSON line per event. The next start replays them. */
import { closeSync, fchmodSync, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import type { SlotPeriod } from "./slot-clock.ts";

/** The first line: everything the chain's beginning is computed from. */
export interface GenesisEntry extends SlotPeriod {
  readonly kind: "genesis";
  readonly format: 1;
  /** All of the chain's own keys are derived from it: it is a secret as far as a local chain has any. */
  readonly seed: string;
}

/** A journal entry after the first line. */
export type JournalEntry =
  /** From here slots run on (the chain was restarted, or advanced by hand). */
  | ({ readonly kind: "mark" } & SlotPeriod)
  /** No client was shown a later slot. */
  | { readonly kind: "seen"; readonly slot: number }
  /** A transaction landed; `wallet` is the name of the wallet it founded, if it did. */
  | { readonly kind: "transaction"; readonly slot: number; readonly bytes: string; readonly wallet?: string }
  /** The blocks after `toSlot` were abandoned. */
  | { readonly kind: "rollback"; readonly slot: number; readonly toSlot: number }
  /** The price of storage changed. */
  | { readonly kind: "rent"; readonly slot: number; readonly lamportsPerByte: string };

/** The journal of a chain. `append` returns once the entry survives the death of the process, or throws. */
export interface Journal {
  readonly genesis: GenesisEntry | undefined;
  /** The entries after the genesis, to be read once, before the first `append`. Throws at a damaged line. */
  entries(): Iterable<JournalEntry>;
  append(entry: GenesisEntry | JournalEntry): void;
  close(): void;
}

/** A journal that remembers nothing: the chain ends with the process. */
export const noJournal: Journal = {
  genesis: undefined,
  entries: () => [],
  append() {},
  close() {},
};

/**
 * Opens or creates the journal at `path`, readable by its owner only. A last line without its newline is what a killed
 * process left of a write that was never acknowledged: it is cut off. Any other damage throws an error on reading.
 */
export function openJournal(path: string): Journal {
  try {
    return new JournalFile(path);
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
  readonly #path: string;
  readonly #file: number;
  /** Bytes that were read or written. */
  #length: number;

  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, "a+", 0o600);
    fchmodSync(this.#file, 0o600);
    const written = readFileSync(this.#file);
    this.#length = written.lastIndexOf("\n") + 1;
    if (this.#length < written.length) ftruncateSync(this.#file, this.#length);
    const [first] = linesIn(written.subarray(0, this.#length));
    if (first === undefined) return;
    const entry = parseLine(first);
    if (entry?.kind !== "genesis") throw this.#damaged(1);
    this.genesis = entry;
  }

  *entries(): Generator<JournalEntry> {
    let number = 0;
    for (const line of linesIn(readFileSync(this.#path))) {
      number += 1;
      if (number === 1) continue;
      const entry = parseLine(line);
      if (entry === undefined || entry.kind === "genesis") throw this.#damaged(number);
      yield entry;
    }
  }

  append(entry: GenesisEntry | JournalEntry): void {
    // Two chains in one file would not replay. No other process may have written since we last did.
    if (fstatSync(this.#file).size !== this.#length) {
      throw new Error(`The journal ${this.#path} was written to by another process: stop one of the two.`);
    }
    const line = Buffer.from(`${JSON.stringify(entry)}\n`);
    try {
      for (let written = 0; written < line.length;) written += writeSync(this.#file, line, written);
    } catch (error) {
      // Half a line must not stay: the next one would be appended to it.
      ftruncateSync(this.#file, this.#length);
      throw error;
    }
    this.#length += line.length;
  }

  close(): void {
    closeSync(this.#file);
  }

  #damaged(line: number): Error {
    return new Error(
      `The journal ${this.#path} cannot be read at line ${line}: restore it from a copy, or delete it to begin a new chain.`,
    );
  }
}

/** Lines one by one: a string may not be as long as a journal. */
function* linesIn(written: Buffer): Generator<string> {
  for (let start = 0; ;) {
    const end = written.indexOf("\n", start);
    if (end < 0) return;
    yield written.toString("utf8", start, end);
    start = end + 1;
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
