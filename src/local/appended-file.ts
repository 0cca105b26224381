/** A file of lines that only grows, with a checksum of what it holds: a snapshot says up to where it knows the file. */
import { createHash, type Hash } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { promisify } from "node:util";

const CHUNK_BYTES = 1 << 20;
const NEWLINE = 0x0a;

/** Everything in a file up to some line. */
export interface FileMark {
  /** Bytes. */
  readonly length: number;
  readonly lines: number;
  /** SHA-256 of the bytes, in hexadecimal. */
  readonly digest: string;
}

/** The lines of a file from the byte `from` on, with their newlines. What follows the last newline is left out. */
export function* linesIn(file: number, from: number): Generator<Buffer> {
  let rest = Buffer.alloc(0);
  for (let at = from; ;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const count = readSync(file, chunk, 0, CHUNK_BYTES, at);
    if (count === 0) return;
    at += count;
    rest = Buffer.concat([rest, chunk.subarray(0, count)]);
    for (let end = rest.indexOf(NEWLINE) + 1; end > 0; end = rest.indexOf(NEWLINE) + 1) {
      const line = rest.subarray(0, end);
      rest = rest.subarray(end);
      yield line;
    }
  }
}

/** A place in a file that was opened for appending: what was read or written so far. */
export class AppendedFile {
  readonly path: string;
  readonly #file: number;
  #length = 0;
  #lines = 0;
  #hash: Hash = createHash("sha256");

  /**
   * Opens or creates the file, readable by its owner only; its place is the beginning. A last line without its newline
   * is what a killed process left of a write that was never acknowledged: it is cut off.
   */
  constructor(path: string) {
    this.path = path;
    this.#file = openSync(path, "a+", 0o600);
    fchmodSync(this.#file, 0o600);
    const { size } = fstatSync(this.#file);
    const end = this.#endOfLastLine(size);
    if (end < size) ftruncateSync(this.#file, end);
  }

  /** Where the place is. */
  mark(): FileMark {
    return { length: this.#length, lines: this.#lines, digest: this.#hash.copy().digest("hex") };
  }

  /** Moves the place to `mark`, if the file holds the same up to there; otherwise nothing changes. */
  goTo(mark: FileMark): boolean {
    const hash = createHash("sha256");
    for (let at = 0; at < mark.length;) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, mark.length - at));
      const count = readSync(this.#file, chunk, 0, chunk.length, at);
      if (count === 0) return false;
      hash.update(chunk.subarray(0, count));
      at += count;
    }
    if (hash.copy().digest("hex") !== mark.digest) return false;
    this.#hash = hash;
    this.#length = mark.length;
    this.#lines = mark.lines;
    return true;
  }

  /** The lines after the place, which moves on with each. */
  *next(): Generator<string> {
    for (const line of linesIn(this.#file, this.#length)) {
      this.#moveOver(line);
      yield line.toString("utf8", 0, line.length - 1);
    }
  }

  /** The lines before the place. */
  *before(): Generator<string> {
    let lines = this.#lines;
    if (lines === 0) return;
    for (const line of linesIn(this.#file, 0)) {
      yield line.toString("utf8", 0, line.length - 1);
      lines -= 1;
      if (lines === 0) return;
    }
  }

  /** Removes what follows the place. */
  cut(): void {
    ftruncateSync(this.#file, this.#length);
  }

  /** Whether the place is the end: otherwise somebody else has written. */
  isAtEnd(): boolean {
    return fstatSync(this.#file).size === this.#length;
  }

  /** Writes a line at the end, which must be the place. It survives the death of the process, or nothing is written. */
  append(text: string): void {
    const line = Buffer.from(`${text}\n`);
    try {
      for (let written = 0; written < line.length;) written += writeSync(this.#file, line, written);
    } catch (error) {
      // Half a line must not stay: the next one would be appended to it.
      ftruncateSync(this.#file, this.#length);
      throw error;
    }
    this.#moveOver(line);
  }

  /** What was written survives a power failure, too. */
  async sync(): Promise<void> {
    await promisify(fsync)(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }

  #moveOver(line: Buffer): void {
    this.#hash.update(line);
    this.#length += line.length;
    this.#lines += 1;
  }

  #endOfLastLine(size: number): number {
    for (let end = size; end > 0;) {
      const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, end));
      readSync(this.#file, chunk, 0, chunk.length, end - chunk.length);
      const newline = chunk.lastIndexOf(NEWLINE);
      if (newline >= 0) return end - chunk.length + newline + 1;
      end -= chunk.length;
    }
    return 0;
  }
}
