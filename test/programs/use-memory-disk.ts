/**
 * Keeps the tests' temporary folders in memory, where there is such a disk: databases are written and synced as ever, and
 * a sync waits for no device. No test ends the power supply, so none can tell.
 */
import { accessSync, constants, statfsSync } from "node:fs";

// Linux has it nearly everywhere, but in some containers with next to no room.
const MEMORY_DISK = "/dev/shm";
const ROOM_BYTES = 1024 ** 3;

// oxlint-disable import/no-default-export -- vitest calls the default export

/** Called by vitest before the first test; the workers and their processes inherit it. A folder that was chosen is kept. */
export default function useMemoryDisk(): void {
  if (process.env["TMPDIR"] === undefined && hasRoom(MEMORY_DISK)) process.env["TMPDIR"] = MEMORY_DISK;
}

function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    return false;
  }
}
