/** Keeps details of old transactions on disk: memory would be too small, and the journal can rebuild the file. */
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";

/** The place of a value in the file, in bytes. */
interface Place {
  readonly offset: number;
  readonly length: number;
}

/** The number of newest, and of last read, values that stay in memory. */
const MAX_KEPT = 256;

/** Values by whole numbers, in a scratch file that ends with the process. They must survive `v8.serialize`. */
export class HistoryFile<Value> {
  readonly #places = new Map<number, Place>();
  /** Values in the order of their last use. */
  readonly #kept = new Map<number, Value>();
  /** Values that could not be written, for example on a full disk. */
  readonly #unwritten = new Map<number, Value>();
  #file: number | undefined;
  #length = 0;

  /** Keeps the value, in memory where it cannot be written. */
  set(key: number, value: Value): void {
    this.delete(key);
    this.#keep(key, value);
    try {
      this.#places.set(key, this.#write(serialize(value)));
    } catch {
      this.#unwritten.set(key, value);
    }
  }

  /** Throws for a key that was never set. */
  get(key: number): Value {
    const known = this.#kept.get(key) ?? this.#unwritten.get(key) ?? this.#read(key);
    this.#keep(key, known);
    return known;
  }

  delete(key: number): void {
    for (const map of [this.#places, this.#kept, this.#unwritten]) map.delete(key);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #keep(key: number, value: Value): void {
    this.#kept.delete(key);
    this.#kept.set(key, value);
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size > MAX_KEPT) this.#kept.delete(oldest);
  }

  #write(bytes: Uint8Array): Place {
    this.#file ??= openScratchFile();
    const place = { offset: this.#length, length: bytes.length };
    for (let done = 0; done < bytes.length;) {
      done += writeSync(this.#file, bytes, done, bytes.length - done, place.offset + done);
    }
    this.#length += bytes.length;
    return place;
  }

  #read(key: number): Value {
    const place = this.#places.get(key);
    if (place === undefined || this.#file === undefined) {
      throw new Error(`there is no entry ${key} in the history`);
    }
    const bytes = Buffer.alloc(place.length);
    for (let done = 0; done < bytes.length;) {
      const count = readSync(this.#file, bytes, done, bytes.length - done, place.offset + done);
      if (count === 0) throw new Error("the history of the local chain was cut off: restart it");
      done += count;
    }
    return deserialize(bytes) as Value;
  }
}

/** A file without a name: the system frees it when the process ends, however it ends. */
function openScratchFile(): number {
  const folder = mkdtempSync(join(tmpdir(), "paystate-chain-"));
  try {
    return openSync(join(folder, "history"), "wx+", 0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
