/** What is told of old transactions, on disk: memory would not hold it, and the journal can rebuild it. */
import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  fsync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { deserialize, serialize } from "node:v8";

/** Where a value stands in the file, in bytes. */
export interface Place {
  readonly offset: number;
  readonly length: number;
  readonly checksum: number;
}

/** So many of the newest and of the last read values stay in memory. */
const MAX_KEPT = 256;

/** Values by whole numbers, far more of them than memory would hold. They must survive `v8.serialize`. */
export class HistoryFile<Value> {
  readonly #places = new Map<number, Place>();
  /** In the order of their last use. */
  readonly #kept = new Map<number, Value>();
  /** What could not be written, such as on a full disk. */
  readonly #unwritten = new Map<number, Value>();
  #file: number | undefined;
  #length = 0;

  /** Takes over the file that `openHistory` opened. Without one, it is a scratch file that ends with the process. */
  constructor(file?: number) {
    this.#file = file;
  }

  /** Returns where the value was written, unless that failed. */
  set(key: number, value: Value): Place | undefined {
    this.delete(key);
    this.#keep(key, value);
    try {
      const place = this.#write(serialize(value));
      this.#places.set(key, place);
      return place;
    } catch {
      this.#unwritten.set(key, value);
      return undefined;
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

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** Goes on behind the first `length` bytes of an earlier process. False when the file is shorter. */
  continueAt(length: number): boolean {
    const file = this.#opened();
    if (fstatSync(file).size < length) return false;
    this.#length = length;
    return true;
  }

  /** A value that an earlier process wrote. */
  restore(key: number, place: Place): void {
    this.#places.set(key, place);
  }

  /** Removes what an earlier process wrote behind the place where this one goes on. */
  cut(): void {
    ftruncateSync(this.#opened(), this.#length);
  }

  /** What was written survives a power failure, too. */
  async sync(): Promise<void> {
    if (this.#file !== undefined) await promisify(fsync)(this.#file);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #opened(): number {
    this.#file ??= openScratchFile();
    return this.#file;
  }

  #keep(key: number, value: Value): void {
    this.#kept.delete(key);
    this.#kept.set(key, value);
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size > MAX_KEPT) this.#kept.delete(oldest);
  }

  #write(bytes: Uint8Array): Place {
    const file = this.#opened();
    const place = { offset: this.#length, length: bytes.length, checksum: checksumOf(bytes) };
    for (let done = 0; done < bytes.length;) {
      done += writeSync(file, bytes, done, bytes.length - done, place.offset + done);
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
    if (checksumOf(bytes) !== place.checksum) {
      throw new Error(
        "the history of the local chain is damaged: remove the folder beside its journal, and restart it",
      );
    }
    return deserialize(bytes) as Value;
  }
}

function checksumOf(bytes: Uint8Array): number {
  return createHash("sha256").update(bytes).digest().readInt32LE(0);
}

/** Opens or creates a history that outlives the process, readable by its owner only. */
export function openHistory(path: string): number {
  return openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
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
