/** Checks that the disk of a database has room for its growth, and for a backup. */
import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { fine, warning, wrong, type Finding } from "./finding.ts";

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

export function checkDisk({ free, database }: DiskSpace): Finding {
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
