/** A database file that is deleted, replaced by an older copy or cut short under load, and put back once nobody uses it. */
import { copyFileSync, linkSync, renameSync, rmSync, statSync, truncateSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import type { CarefulApi } from "./careful-api.ts";
import type { ReplacementKind } from "./plan.ts";
import type { Victim } from "./victim.ts";

/** What it takes. While the file is another, no storage of this process has it open. */
export interface ReplacedFile {
  readonly kind: ReplacementKind;
  readonly path: string;
  /** A copy of before the first order. */
  readonly older: string;
  readonly victims: readonly Victim[];
  readonly api: CarefulApi;
}

const NOTICED_MS = 1_000;
/** So long customers go on asking. */
const WATCHED_MS = 3_000;
const LOOK_MS = 50;
/** After so long without a process that takes requests the file is replaced all the same. */
const PATIENCE_MS = 20_000;

/** Answers what was taken after processes had to know. No process starts meanwhile: it could not know of another file. */
export async function replaceFile(parts: ReplacedFile): Promise<readonly string[]> {
  const { kind, path, victims, api } = parts;
  const until = performance.now() + PATIENCE_MS;
  while (victims.every(({ baseUrl }) => baseUrl === null) && performance.now() < until) await sleep(LOOK_MS);
  for (const victim of victims) victim.hold();
  // The same file under another name: what is committed until it is missed is in it, too.
  const kept = `${path} kept`;
  if (kind === "cut") await cut(parts, kept);
  else linkSync(path, kept);
  if (kind === "deleted") rmSync(path);
  if (kind === "older copy") {
    copyFileSync(parts.older, `${path} older`);
    renameSync(`${path} older`, path);
  }
  const known = performance.now() + NOTICED_MS;
  await sleep(WATCHED_MS);
  const lateMs = api.lastTaken - known;
  await Promise.all(victims.map((victim) => victim.end()));
  renameSync(kept, path);
  for (const victim of victims) victim.release();
  return lateMs < 0
    ? []
    : [`D36: ${Math.round(lateMs + NOTICED_MS)} ms after the file was ${kind} a POST was answered 201`];
}

/** While everybody stands still: what lies in the log alone is not cut off. */
async function cut({ path, victims }: ReplacedFile, kept: string): Promise<void> {
  for (const victim of victims) victim.freeze();
  const database = new Database(path);
  database.pragma("wal_checkpoint(PASSIVE)");
  database.close();
  copyFileSync(path, kept);
  truncateSync(path, Math.floor(statSync(path).size / 2));
  for (const victim of victims) victim.thaw();
}

/** Copies the file as it is, with what lies in its log. */
export function copyOf(path: string, to: string): void {
  const database = new Database(path);
  database.prepare("vacuum into ?").run(to);
  database.close();
}
