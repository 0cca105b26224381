/** The archive of the deployment's PostgreSQL: what compose.yaml has it do, and the restore that the page tells. */
import { chown, mkdir, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import { eventually } from "../kit/eventually.ts";
import { baseBackup, startPostgres, startRestored, unprivileged } from "../kit/postgres-server.ts";

/** Folders as the first service of compose.yaml makes them, and the settings of the second, both in this place. */
async function archiveIn(folder: string) {
  const compose = await readFile("examples/deploy/compose.yaml", "utf8");
  const { uid, gid } = unprivileged();
  const [, listed = ""] = /command:\s+\[("install".*)\]/.exec(compose) ?? [];
  const made = [...listed.matchAll(/"(\/archive\/\w+)"/g)].map(([, path = ""]) => path);
  for (const path of made) await mkdir(path.replace("/archive", folder), { recursive: true });
  for (const path of ["/archive", ...made]) {
    if (uid !== undefined && gid !== undefined) await chown(path.replace("/archive", folder), uid, gid);
  }
  const settings = [...compose.matchAll(/- (archive_\w+)=(.*)$/gm)].map(
    ([, name = "", value = ""]) => [name, value.replaceAll("/archive", folder)] as const,
  );
  const page = await readFile("examples/deploy/README.md", "utf8");
  const [, restore = ""] = /`restore_command=([^`]+)`/.exec(page) ?? [];
  return { settings: Object.fromEntries(settings), restore: restore.replaceAll("/archive", folder) };
}

async function ask(url: string, ...statements: readonly string[]): Promise<readonly object[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: readonly object[] = [];
    for (const statement of statements) ({ rows } = await client.query<object>(statement));
    return rows;
  } finally {
    await client.end();
  }
}

test.skipIf(!HAS_POSTGRES)(
  "Q21: a base backup and the archived log bring back what was written after the backup",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "paystate-archive-"));
    const { settings, restore } = await archiveIn(folder);
    expect(Object.keys(settings).toSorted()).toEqual(["archive_command", "archive_mode", "archive_timeout"]);
    const server = await startPostgres(settings);
    await ask(server.url, "create table orders (id text)", "insert into orders values ('before')");
    const base = join(folder, "base", "2027-01-31");
    await baseBackup(server, base);
    await ask(server.url, "insert into orders values ('after')");
    const [segment] = (await ask(server.url, "select pg_walfile_name(pg_switch_wal()) as name")) as [
      { readonly name: string },
    ];
    await eventually(async () => expect(await readdir(join(folder, "wal"))).toContain(segment.name));
    await server.stop();

    const restored = await startRestored(base, restore);
    await eventually(async () =>
      expect(await ask(restored.url, "select id from orders order by id")).toEqual([
        { id: "after" },
        { id: "before" },
      ]),
    );
    await restored.stop();
    await rm(folder, { recursive: true, force: true });
  },
);
