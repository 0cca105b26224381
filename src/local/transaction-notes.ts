/** A short note of each transaction that landed, one line each: a start reads them instead of running them all again. */
import type { AppendedFile, FileMark } from "./appended-file.ts";
import type { Place } from "./history-file.ts";
import type { TransactionErrorJson } from "./transaction-errors.ts";

/** What is kept in memory of each transaction. */
export interface KeptOfTransaction {
  readonly signature: string;
  readonly messageHash: string;
  readonly slot: number;
  /** Unix milliseconds at which its slot began. */
  readonly time: number;
  /** Its place among all transactions of the chain. */
  readonly position: number;
  readonly err: TransactionErrorJson | null;
  /** All its memos as nodes list them. */
  readonly memo: string | null;
}

/** One line. A position that was there already follows an abandoned fork: it and all after it count no more. */
export interface TransactionNote extends KeptOfTransaction {
  /** The accounts that it names. */
  readonly addresses: readonly string[];
  /** Where the rest stands in the history. */
  readonly place: Place;
}

/** The notes of one chain. */
export class TransactionNotes {
  readonly #file: AppendedFile;
  #isWhole = true;

  constructor(file: AppendedFile) {
    this.#file = file;
  }

  /** Goes on behind the notes up to `mark`, and returns those; `undefined` when they are not those of that time. */
  goTo(mark: FileMark): Iterable<TransactionNote> | undefined {
    return this.#file.goTo(mark) ? this.#read() : undefined;
  }

  /** Removes the notes of an earlier process behind the place where this one goes on. */
  cut(): void {
    this.#file.cut();
  }

  /** `undefined` for what could not be written to the history. */
  add(note: TransactionNote | undefined): void {
    this.#isWhole &&= note !== undefined && this.#append(note);
  }

  /** How far the notes go; `undefined` since one is missing, such as on a full disk. */
  mark(): FileMark | undefined {
    return this.#isWhole ? this.#file.mark() : undefined;
  }

  /** What was written survives a power failure, too. */
  sync(): Promise<void> {
    return this.#file.sync();
  }

  close(): void {
    this.#file.close();
  }

  *#read(): Generator<TransactionNote> {
    for (const line of this.#file.before()) yield JSON.parse(line) as TransactionNote;
  }

  #append(note: TransactionNote): boolean {
    try {
      this.#file.append(JSON.stringify(note));
      return true;
    } catch {
      return false;
    }
  }
}
