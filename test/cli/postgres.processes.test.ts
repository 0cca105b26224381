/** The commands beside a service on a PostgreSQL database, named by its URL. */
import { existsSync } from "node:fs";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { createEngine } from "paystate/engine";
import { postgresStorage } from "../../storage/postgres.ts";
import { job } from "../engine/job.ts";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";
import { leaveNothing, runCommand, withoutPackage } from "./command.ts";

afterAll(leaveNothing);

const NOWHERE = "postgres://me:hunter2@127.0.0.1:1/db";
const FOLDER = "--data takes the folder of a `paystate dev`, which works on SQLite, and not a URL";

/** The first line of a refusal. No password is shown, and no folder is named by a URL. */
async function refusalOf(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<string> {
  const { code, stdout, stderr } = await runCommand(args, env);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).not.toContain("hunter2");
  expect(existsSync("postgres:")).toBe(false);
  return stderr.split("\n")[0] ?? "";
}

test.each([
  [
    ["instance", "list", "--database", NOWHERE],
    "PostgreSQL does not answer: start it, or mend the host and port of the URL",
  ],
  [
    ["instance", "list", "--database", "mysql://me:hunter2@h/db"],
    "--database takes a file of SQLite, or a URL of PostgreSQL such as postgres://user@host:5432/database",
  ],
  [
    ["instance", "list", "--database", "payments.db", "--schema", "shop"],
    "--schema shop: expected --database with a URL of PostgreSQL beside it",
  ],
  [
    ["account", "list", "--schema", "shop"],
    "--schema shop: expected --database with a URL of PostgreSQL beside it",
  ],
  [
    ["instance", "list", "--database", NOWHERE, "--schema", "Shop"],
    'schema must be a lower-case letter or _, then up to 47 letters, digits and _, and not begin with pg_: not "Shop"',
  ],
  [["instance", "list", "--data", NOWHERE], FOLDER],
  [["dev", "--data", NOWHERE, "--port", "0", "--rpc-port", "0"], FOLDER],
  [["operator", "attention", "--data", NOWHERE], FOLDER],
  [
    ["inspect", NOWHERE],
    "inspect reads a file of SQLite or a bundle: the service shows what is in PostgreSQL",
  ],
  [
    ["backup", "copy.db", "--database", NOWHERE],
    "this database is PostgreSQL: take pg_dump, or the continuous archiving of its server",
  ],
])("U6: %j is refused in a sentence without the password", async (args, sentence) => {
  expect(await refusalOf(args)).toBe(`paystate: ${sentence}`);
});

test("pg is missing", async () => {
  expect(await refusalOf(["instance", "list", "--database", NOWHERE], withoutPackage("pg"))).toBe(
    "paystate: PostgreSQL needs its driver: `npm install pg`",
  );
});

test.skipIf(!HAS_POSTGRES)(
  "U6: instances are listed by URL, and in a named schema; a database without any of ours is refused, and no password is shown",
  async () => {
    const admin = new pg.Client({ connectionString: await postgresUrl() });
    await admin.connect();
    await admin.query("create database of_command");
    await admin.end();
    const url = new URL(await postgresUrl());
    url.pathname = "/of_command";
    url.password = "hunter2";
    const ps = () => runCommand(["instance", "list", "--status", "all", "--database", url.href]);
    const refused = await ps();
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain("there is nothing of paystate in the schema paystate of this database");
    const storage = await postgresStorage(url.href);
    const jobs = job(async () => ({ event: { type: "DONE", by: "me" } }));
    const engine = createEngine({ storage, workflows: [jobs] });
    await engine.start(jobs, { id: "of-the-server", input: { id: "of-the-server" } });
    await storage.close();
    const listed = await ps();
    expect([listed.code, listed.stderr]).toEqual([0, ""]);
    expect(listed.stdout).toContain("of-the-server");
    const named = (...args: string[]) =>
      runCommand([...args, "--database", url.href, "--schema", "shop", "--json"]);
    expect((await named("instance", "list")).stderr).toContain(
      "nothing of paystate in the schema shop of this database",
    );
    await (await postgresStorage(url.href, { schema: "shop" })).close();
    expect(await named("account", "create", "Ann", "--tier", "free")).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse((await named("account", "list")).stdout)).toMatchObject([{ name: "Ann" }]);
    expect(await named("schedule", "list")).toMatchObject({ code: 0, stdout: "[]\n", stderr: "" }); // modules: schedules
    const elsewhere = await named("instance", "list");
    expect(elsewhere).toMatchObject({ code: 0, stderr: "" });
    expect(elsewhere.stdout).not.toContain("of-the-server");
    const unknown = await runCommand(["instance", "show", "none", "--database", url.href]);
    expect(unknown.stderr).toContain(`there is no instance none in postgres://${url.host}/of_command`);
    for (const { stdout, stderr } of [refused, listed, unknown]) {
      expect(stdout + stderr).not.toContain("hunter2");
    }
  },
);
