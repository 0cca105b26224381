/** Folders of tests: each test of a file, or of a `describe`, has one of its own, which goes with it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";

/** Calls `begin` with the folder before each test; hooks that come after see it filled. */
export function eachInFolder(begin: (folder: string) => void): void {
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "paystate-"));
    begin(folder);
  });
  afterEach(() => rm(folder, { recursive: true }));
}
