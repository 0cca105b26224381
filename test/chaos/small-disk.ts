/** A disk of its own for the folder of a run, small enough to be filled. Mounting one takes root. */
import { execFileSync } from "node:child_process";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const SIZE = "96m";
const BLOCK = Buffer.alloc(65_536);
const FULL_MS = 3_000;

/** From now on the folder is a disk. */
export function mountSmallDisk(folder: string): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE}`, "none", folder]);
}

export function unmountSmallDisk(folder: string): void {
  execFileSync("umount", ["--lazy", folder]);
}

/** Leaves no room for some seconds, to the last byte. */
export async function fillDisk(folder: string): Promise<void> {
  const ballast = join(folder, "ballast");
  const file = await open(ballast, "w");
  const until = performance.now() + FULL_MS;
  try {
    // What others give back meanwhile is taken, too.
    while (performance.now() < until) await file.write(BLOCK).catch(() => sleep(50));
  } finally {
    await file.close();
    await rm(ballast);
  }
}
