/**
 * Settings that `paystate dev` keeps between two starts, besides chain and database: secrets, keys and ports.
 */
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Tier } from "../payments/frame/tables/identity.ts";
import { refuseUrlAsFolder } from "./url-or-path.ts";

/** The tiers, each with an account and a key of its own. */
export const TIERS: readonly Tier[] = ["free", "pro", "enterprise"];

/** The database, in its folder. */
export const DATABASE_FILE = "payments.db";

const SETUP_FILE = "dev.json";

const setupSchema = z.object({
  masterSecret: z.string().regex(/^[0-9a-f]{64}$/),
  apiKeys: z.object({ free: z.string(), pro: z.string(), enterprise: z.string() }).optional(),
  port: z.int().min(1).max(65_535).optional(),
  rpcPort: z.int().min(1).max(65_535).optional(),
  aheadMs: z.int().min(0).optional(),
});

/**
 * A development setup: `masterSecret` is 32 bytes in hexadecimal; keys and ports are absent until the first start has
 * got that far. `aheadMs` is how far its clock is ahead of the machine's. The keys open nothing but this local service.
 */
export type DevSetup = Readonly<z.infer<typeof setupSchema>>;

/** The files of a data folder; makes an absent folder. */
export function openDataFolder(folder: string): {
  /** Held while a `paystate dev` runs on the folder. */
  readonly lock: string;
  readonly journal: string;
  readonly database: string;
  /** The ids of private orders, written down before their addresses are handed out. */
  readonly orders: string;
  /** The setup of an earlier start, or null. */
  readSetup(): DevSetup | null;
  /** Replaces the setup as a whole or not at all. */
  writeSetup(setup: DevSetup): void;
} {
  refuseUrlAsFolder(folder);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    const problem = "cannot be made or written to";
    throw new Error(`the data folder ${folder} ${problem}: choose another one with --data`, { cause });
  }
  refusePlanted(folder);
  const file = join(folder, SETUP_FILE);
  return {
    lock: join(folder, "lock"),
    journal: join(folder, "chain.jsonl"),
    database: join(folder, DATABASE_FILE),
    orders: join(folder, "orders.jsonl"),
    readSetup() {
      const text = readIfPresent(file);
      try {
        return text === null ? null : setupSchema.parse(JSON.parse(text));
      } catch (cause) {
        throw new Error(`${file} is damaged: remove ${folder} to begin again`, { cause });
      }
    },
    writeSetup(setup) {
      const next = `${file}.next`;
      try {
        // A new file: what stands there is no file of ours, or that of a process that died here.
        rmSync(next, { force: true });
        writeFileSync(next, JSON.stringify(setup, null, 2), { mode: 0o600, flag: "wx" });
        renameSync(next, file);
      } catch (cause) {
        const problem = "cannot be written: is the disk full or read-only?";
        throw new Error(`${file} ${problem} Choose another folder with --data`, { cause });
      }
    },
  };
}

/** The setup of a folder that is there already; null when no `paystate dev` was ever started on it. Makes nothing. */
export function setupIn(folder: string): DevSetup | null {
  refuseUrlAsFolder(folder);
  return existsSync(join(folder, SETUP_FILE)) ? openDataFolder(folder).readSetup() : null;
}

/**
 * Secrets are written here: neither the folder nor anything in it may be a link, or belong to somebody else who could plant
 * one. Throws a sentence that names it.
 */
function refusePlanted(folder: string): void {
  const own = process.getuid?.();
  for (const path of [folder, ...readdirSync(folder).map((name) => join(folder, name))]) {
    const { uid, isLink } = standing(path);
    const problem = isLink ? "is a link" : "belongs to somebody else";
    if (isLink || (own !== undefined && uid !== undefined && uid !== own)) {
      throw new Error(`${path} ${problem}: remove it, or choose another data folder with --data`);
    }
  }
}

function standing(path: string): { readonly uid: number | undefined; readonly isLink: boolean } {
  // A file of SQLite's may go between the two looks.
  const found = lstatSync(path, { throwIfNoEntry: false });
  return { uid: found?.uid, isLink: found?.isSymbolicLink() === true };
}

function readIfPresent(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new Error(`${file} cannot be read: make it readable or choose another folder with --data`, {
      cause,
    });
  }
}
