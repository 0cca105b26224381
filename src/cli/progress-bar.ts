/** A progress bar on a terminal; nothing where the output is no terminal. */

/** The part of a stream that a bar needs. */
interface Terminal {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

const CELLS = 30;

/** Shows nothing where the stream is no terminal: a file or another program gets the result alone. */
export class ProgressBar {
  readonly #terminal: Terminal | null;
  #shown = "";

  constructor(terminal: Terminal) {
    this.#terminal = terminal.isTTY === true ? terminal : null;
  }

  /** `share` is that of the work which is done, from 0 to 1. */
  show(what: string, share: number): void {
    const full = Math.min(CELLS, Math.floor(share * CELLS));
    const bar = "█".repeat(full) + "░".repeat(CELLS - full);
    this.#replace(`${bar} ${String(Math.floor(share * 100)).padStart(3)} % ${what}`);
  }

  /** Leaves the line to what comes next. */
  clear(): void {
    this.#replace("");
  }

  #replace(text: string): void {
    if (text === this.#shown) return;
    this.#shown = text;
    // To the beginning of the line, and the rest of the line away.
    this.#terminal?.write(`\r${text}\u001B[K`);
  }
}
