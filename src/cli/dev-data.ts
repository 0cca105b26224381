/** What `paystate dev` keeps between two starts besides chain and database: its secrets, its keys, its ports. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Tier } from "../../storage/records.ts";

/** The tiers, each with an account and a key of its own. */
export const TIERS: readonly Tier[] = ["free", "pro", "enterprise"];

/** A development setup. Its keys open nothing but this local service. */
export interface DevSetup {
  /** 32 bytes in hexadecimal. */
  readonly masterSecret: string;
  readonly apiKeys: Readonly<Record<Tier, string>>;
  readonly port: number;
  readonly rpcPort: number;
}

/** The files of a data folder; makes the folder when it is not there. */
export function openDataFolder(folder: string): {
  readonly journal: string;
  readonly database: string;
  /** The setup of an earlier start, or null. */
  readSetup(): DevSetup | null;
  /** Replaces the setup as a whole or not at all. */
  writeSetup(setup: DevSetup): void;
} {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new Error(`the data folder ${folder} cannot be made: choose another one with --data`, { cause });
  }
  const file = join(folder, "dev.json");
  return {
    journal: join(folder, "chain.jsonl"),
    database: join(folder, "payments.db"),
    readSetup() {
      let text: string;
      try {
        text = readFileSync(file, "utf8");
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code === "ENOENT") return null;
        throw new Error(`${file} cannot be read: make it readable or choose another folder with --data`, {
          cause,
        });
      }
      try {
        return JSON.parse(text) as DevSetup;
      } catch (cause) {
        throw new Error(`${file} is damaged: remove ${folder} to begin anew`, { cause });
      }
    },
    writeSetup(setup) {
      const next = `${file}.next`;
      try {
        writeFileSync(next, JSON.stringify(setup, null, 2), { mode: 0o600 });
        renameSync(next, file);
      } catch (cause) {
        throw new Error(
          `${file} cannot be written: is the disk full or read-only? Choose another folder with --data`,
          {
            cause,
          },
        );
      }
    },
  };
}
