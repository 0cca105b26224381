/**
 * The folder beside a journal: the newest snapshot, and the notes and the history that it points into. All of it follows
 * from the journal: without the folder the next start is slower.
 */
import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { join } from "node:path";
import { AppendedFile, linesIn } from "./appended-file.ts";
import { openHistory } from "./history-file.ts";
import { LITESVM_VERSION } from "./litesvm.ts";
import {
  decodeEntry,
  encodeEntry,
  type Snapshot,
  SNAPSHOT_FORMAT,
  type SnapshotEntry,
  type SnapshotHeader,
} from "./snapshot.ts";

const NEWEST = "snapshot.jsonl";
/** Written in pieces of about this size: the event loop goes on between them. */
const PIECE_BYTES = 64 * 1024;

/** The last line. */
interface SnapshotEnd {
  readonly kind: "end";
  /** SHA-256 of all bytes before this line, in hexadecimal. */
  readonly digest: string;
}

/** The files of a chain that are kept between its starts besides the journal. */
export class SnapshotFolder {
  readonly notes: AppendedFile;
  /** File descriptor of the history. */
  readonly history: number;
  readonly #path: string;

  /** Makes the folder when it is not there. */
  constructor(path: string) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    this.#path = path;
    this.notes = new AppendedFile(join(path, "notes.jsonl"));
    this.history = openHistory(join(path, "history"));
  }

  /** A new chain begins: the snapshot that may lie here is of another one. */
  forget(): void {
    rmSync(join(this.#path, NEWEST), { force: true });
  }

  /** The newest snapshot, if it is whole; warns of a damaged one. */
  newest(): Snapshot | undefined {
    const path = join(this.#path, NEWEST);
    try {
      return readSnapshot(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      warnOfSnapshot(`${path} cannot be used (${(error as Error).message}): the journal is replayed instead`);
      return undefined;
    }
  }

  /** Writes a snapshot and puts it in the place of the older one, once `synced` has ended: what it points into is on the disk. */
  async write(snapshot: Snapshot, synced: () => Promise<void>): Promise<void> {
    const fresh = join(this.#path, "snapshot.new");
    const file = await open(fresh, "w", 0o600);
    try {
      await writeSnapshot(file, snapshot);
      await file.sync();
    } finally {
      await file.close();
    }
    await synced();
    await rename(fresh, join(this.#path, NEWEST));
    await syncFolder(this.#path);
  }

  /** Closes the files where no transaction log has taken them over. */
  close(): void {
    this.notes.close();
    closeSync(this.history);
  }
}

/** Tells the developer: a local chain has no log. */
export function warnOfSnapshot(problem: string): void {
  process.emitWarning(`paystate: the local chain's snapshot ${problem}.`);
}

async function writeSnapshot(file: FileHandle, { header, entries }: Snapshot): Promise<void> {
  const hash = createHash("sha256");
  let piece = `${JSON.stringify(header)}\n`;
  const flush = async (): Promise<void> => {
    hash.update(piece);
    await file.appendFile(piece);
    piece = "";
  };
  for (const entry of entries) {
    piece += `${encodeEntry(entry)}\n`;
    if (piece.length >= PIECE_BYTES) await flush();
  }
  await flush();
  const end: SnapshotEnd = { kind: "end", digest: hash.digest("hex") };
  await file.appendFile(`${JSON.stringify(end)}\n`);
}

/** Throws when the file is not whole, or not of this version. */
function readSnapshot(path: string): Snapshot {
  const file = openSync(path, "r");
  try {
    const first = checkWhole(file);
    const header = JSON.parse(first) as SnapshotHeader;
    if (header.format !== SNAPSHOT_FORMAT || header.litesvm !== LITESVM_VERSION) {
      throw new Error("it was written by another version");
    }
    return { header, entries: entriesOf(path) };
  } finally {
    closeSync(file);
  }
}

/** Compares the last line with all lines before it; returns the first one. */
function checkWhole(file: number): string {
  const hash = createHash("sha256");
  let first: string | undefined;
  let last: Buffer | undefined;
  for (const line of linesIn(file, 0)) {
    first ??= line.toString("utf8");
    if (last !== undefined) hash.update(last);
    last = line;
  }
  const end: SnapshotEnd = { kind: "end", digest: hash.digest("hex") };
  if (first === undefined || last?.toString("utf8") !== `${JSON.stringify(end)}\n`) {
    throw new Error("it is damaged");
  }
  return first;
}

function* entriesOf(path: string): Generator<SnapshotEntry> {
  const file = openSync(path, "r");
  try {
    let number = 0;
    for (const line of linesIn(file, 0)) {
      number += 1;
      if (number === 1) continue;
      const entry = decodeEntry(line.toString("utf8"));
      if (entry === undefined) return;
      yield entry;
    }
  } finally {
    closeSync(file);
  }
}

/** A new name survives a power failure only when its folder was written. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
