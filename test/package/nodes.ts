/** `npm ci && npm run demo` in a fresh clone on the Nodes that CI does not run on itself. One install serves them all. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { cloneInto, npmOn } from "./clone.ts";
import { installed } from "./runtimes.ts";

const OLDEST = "22";

test("U9: a fresh clone is installed on Node 22, and plays its demo there, on 24 and on 26", async () => {
  const folder = mkdtempSync(join(tmpdir(), "paystate-clone-"));
  try {
    cloneInto(folder);
    await npmOn(installed(OLDEST), folder, "ci", "--prefer-offline");
    // One after the other: a demo's payments live for 15 seconds, and three would make one another late.
    for (const name of [OLDEST, "24", "26"]) await npmOn(installed(name), folder, "run", "demo");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
