/** The commands beside a service on a PostgreSQL database, named by its URL. */
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { createEngine } from "paystate/engine";
import { postgresStorage } from "../../storage/postgres.ts";
import { job } from "../engine/job.ts";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";
import { leaveNothing, runCommand } from "./command.ts";

afterAll(leaveNothing);

test.skipIf(!HAS_POSTGRES)(
  "instances are listed by URL; a database without any of ours is refused, and no password is shown",
  async () => {
    const admin = new pg.Client({ connectionString: await postgresUrl() });
    await admin.connect();
    await admin.query("create database of_command");
    await admin.end();
    const url = new URL(await postgresUrl());
    url.pathname = "/of_command";
    url.password = "hunter2";
    const ps = () => runCommand(["ps", "--status", "all", "--database", url.href]);
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
    const unknown = await runCommand(["show", "none", "--database", url.href]);
    expect(unknown.stderr).toContain(`there is no instance none in postgres://${url.host}/of_command`);
    for (const { stdout, stderr } of [refused, listed, unknown]) {
      expect(stdout + stderr).not.toContain("hunter2");
    }
  },
  60_000,
);
