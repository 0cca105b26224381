/** How a test's process asks for the PostgreSQL server of the run: by a file, which the process of the run looks out for. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** The variable with the folder in which is asked and answered. Not set where PostgreSQL is not installed. */
export const POSTGRES_FOLDER = "PAYSTATE_TEST_POSTGRES";

/** The file that asks, and the one with the server's URL. */
export const WANTED = "wanted";
export const ANSWER = "answer";

/** Whether tests of PostgreSQL can run here. A run in CI installs it, or fails. */
export const HAS_POSTGRES = process.env[POSTGRES_FOLDER] !== undefined;

/** The URL of the server, which is started for the first who asks. */
export async function postgresUrl(): Promise<string> {
  const folder = process.env[POSTGRES_FOLDER];
  if (folder === undefined) throw new Error("PostgreSQL is not installed: apt-get install postgresql");
  await writeFile(join(folder, WANTED), "", { flag: "a" });
  for (let tries = 0; tries < 2_000; tries += 1) {
    const answer = await readFile(join(folder, ANSWER), "utf8").catch(() => null);
    if (answer?.startsWith("failed") === true) throw new Error(answer);
    if (answer !== null) return answer;
    await sleep(50);
  }
  throw new Error("the PostgreSQL server of this run did not start within 100 seconds");
}
