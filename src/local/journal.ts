/** The file that a local chain is stored in: one JSON line per event, replayed at the next start. */
import { closeSync, fchmodSync, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
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
  /** What the file held when it was opened: given out once, so that memory holds it no longer than needed. */
  takeEntries(): readonly JournalEntry[];
  append(entry: GenesisEntry | JournalEntry): void;
  close(): void;
}

/** A journal that remembers nothing: the chain ends with the process. */
export const noJournal: Journal = { genesis: undefined, takeEntries: () => [], append() {}, close() {} };

/**
 * Opens or creates the journal at `path`, readable by its owner only. A last line without its newline is what a
 * killed process left of a write that was never acknowledged: it is cut off. Any other damage throws.
 */
export function openJournal(path: string): Journal {
  try {
    return openFile(path);
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

function openFile(path: string): Journal {
  const content = readIfPresent(path);
  const end = content.lastIndexOf("\n") + 1;
  const [genesis, ...entries] = parseLines(path, content.subarray(0, end).toString("utf8"));
  const file = openSync(path, "a", 0o600);
  fchmodSync(file, 0o600);
  if (end < content.length) ftruncateSync(file, end);
  return new JournalFile({
    path,
    file,
    length: end,
    genesis: genesis as GenesisEntry | undefined,
    entries: entries as JournalEntry[],
  });
}

function readIfPresent(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}

function parseLines(path: string, text: string): (GenesisEntry | JournalEntry)[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line, index) => {
      const entry = parseLine(line);
      const isGenesis = entry?.kind === "genesis";
      if (entry !== undefined && isGenesis === (index === 0)) return entry;
      throw new Error(
        `The journal ${path} cannot be read at line ${index + 1}: restore it from a copy, or delete it to begin a new chain.`,
      );
    });
}

function parseLine(line: string): GenesisEntry | JournalEntry | undefined {
  try {
    const entry = JSON.parse(line) as GenesisEntry | JournalEntry | null;
    return entry ?? undefined;
  } catch {
    return undefined;
  }
}

/** What was found in a file when it was opened. */
interface OpenedFile extends Pick<Journal, "genesis"> {
  readonly entries: readonly JournalEntry[];
  readonly path: string;
  /** Its file descriptor. */
  readonly file: number;
  /** In bytes, up to the end of the last whole line. */
  readonly length: number;
}

class JournalFile implements Journal {
  readonly genesis: GenesisEntry | undefined;
  readonly #path: string;
  readonly #file: number;
  #length: number;
  #entries: readonly JournalEntry[];

  constructor({ path, file, length, genesis, entries }: OpenedFile) {
    this.#path = path;
    this.#file = file;
    this.#length = length;
    this.genesis = genesis;
    this.#entries = entries;
  }

  takeEntries(): readonly JournalEntry[] {
    const entries = this.#entries;
    this.#entries = [];
    return entries;
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
}
