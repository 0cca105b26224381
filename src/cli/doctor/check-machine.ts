/** Checks this machine: Node, the SQLite driver, and the room on the disk of a database. */
import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { fine, wrong, type DiagnosisFinding, warning } from "../../service/diagnosis/finding.ts";
import { loadDriver } from "../../../storage/sqlite/driver.ts";
import { explained } from "../../../storage/sqlite/explain.ts";
import { StorageUnusable } from "../../../storage/storage-unusable.ts";

/** `version` without the `v`; `range` as in package.json: the least version that fits. */
export function checkNode(version: string, range: string): DiagnosisFinding {
  const found = `Node ${version}, and ${range} is needed`;
  if (isAtLeast(version, range.replace(/^>=/, ""))) return fine("node", found);
  return wrong("node", { found, todo: "install a newer Node" });
}

function isAtLeast(version: string, least: string): boolean {
  const given = version.split(".").map(Number);
  const wanted = least.split(".").map(Number);
  const place = wanted.findIndex((part, index) => part !== given[index]);
  return place === -1 || (given[place] ?? 0) > (wanted[place] ?? 0);
}

/** A missing SQLite driver is an error only where the database is SQLite: PostgreSQL has a driver of its own. */
export async function checkDriver(isNeeded: boolean): Promise<DiagnosisFinding> {
  try {
    const driver = await loadDriver();
    // Its native part is loaded with the first database.
    driver.open(":memory:", {}).close();
    return fine("sqlite driver", `${driver.name} loads`);
  } catch (error) {
    const cause = explained(error);
    const todo = (cause as Error).message;
    const isMissing = cause instanceof StorageUnusable && cause.code === "driver_missing";
    const complain = isMissing && !isNeeded ? warning : wrong;
    return complain("sqlite driver", { found: "no driver loads", todo });
  }
}

const MIB = 1024 * 1024;
/** Below this the next busy hour may end with a full disk. */
const LEAST_BYTES = 100 * MIB;
const SPARE_BYTES = 1024 * MIB;

/** Free space and file size, in bytes. */
interface DiskSpace {
  readonly free: number;
  readonly database: number;
}

/** Reads the free space of the disk that holds the file. */
export async function readDiskSpace(file: string): Promise<DiskSpace> {
  const [{ bavail, bsize }, { size }] = await Promise.all([statfs(dirname(file)), stat(file)]);
  return { free: bavail * bsize, database: size };
}

export function checkDisk({ free, database }: DiskSpace): DiagnosisFinding {
  const found = `${mebibytes(free)} free beside a database of ${mebibytes(database)}`;
  if (free < LEAST_BYTES) {
    return wrong("disk", { found, todo: "make room: without it nothing more can be taken" });
  }
  if (free < Math.max(SPARE_BYTES, database)) {
    return warning("disk", { found, todo: "make room: a backup beside it needs as much again" });
  }
  return fine("disk", found);
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / MIB)} MiB`;
}
