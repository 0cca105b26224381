/** The PostgreSQL server of this run: started for the first test that asks for one, ended after the last. */
import { watch } from "node:fs";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresPrograms, startPostgres, type PostgresServer } from "../kit/postgres-server.ts";
import { ANSWER, POSTGRES_FOLDER, WANTED } from "./ask-postgres.ts";

// oxlint-disable import/no-default-export -- vitest calls the default export

/** Called by vitest before the first test. What it answers is called after the last. */
export default async function providePostgres(): Promise<() => Promise<void>> {
  if (postgresPrograms() === null) {
    process.stdout.write(
      "\nNO POSTGRESQL HERE: its storage is NOT tested in this run. `apt-get install postgresql`, and again.\n\n",
    );
    return async () => {};
  }
  const folder = await mkdtemp(join(tmpdir(), "paystate-ask-postgres-"));
  process.env[POSTGRES_FOLDER] = folder;
  const servers: Promise<PostgresServer>[] = [];
  const answer = async (text: string): Promise<void> => {
    await writeFile(join(folder, "writing"), text);
    await rename(join(folder, "writing"), join(folder, ANSWER));
  };
  const watcher = watch(folder, (_, name) => {
    if (name !== WANTED || servers.length > 0) return;
    const server = startPostgres();
    servers.push(server);
    server.then(
      ({ url }) => answer(url),
      (error: unknown) => answer(`failed: ${String(error)}`),
    );
  });
  return async () => {
    watcher.close();
    for (const server of servers) await server.then((started) => started.stop()).catch(() => {});
    await rm(folder, { recursive: true, force: true });
  };
}
