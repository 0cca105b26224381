/** The example of two processes on one PostgreSQL database, run as a reader would run it. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";

const main = fileURLToPath(new URL("../../examples/postgres-two-workers/main.ts", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

test.skipIf(!HAS_POSTGRES)(
  "two workers share the work, and when one is killed the other finishes every order",
  async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--import", "tsx", main, await postgresUrl()],
      { cwd: root },
    );
    const lines = stdout.trim().split("\n");
    expect(lines.at(-1)).toBe("all 20 orders are gone");
    const shipped = lines.filter((line) => line.includes(" shipped "));
    expect(new Set(shipped.map((line) => line.split(" ")[2])).size).toBe(20);
    const afterDeath = lines.slice(lines.indexOf("left is killed") + 1, -1);
    expect(afterDeath.some((line) => line.startsWith("right "))).toBe(true);
  },
);
