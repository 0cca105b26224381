/** The deployed program itself: it starts on a chain, answers its probes, logs with pino, and stops when it is asked. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../src/core/runtime.ts";
import { createLocalChain } from "../../src/local/index.ts";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";
import { leaveNothing, newDataFolder, runCommand, startProgram, type Running } from "../cli/command.ts";

afterAll(leaveNothing);

type Variables = Readonly<
  Record<"DATABASE" | "MASTER_SECRET_FILE" | "HOST" | "PORT" | "ENDPOINTS_FILE", string>
>;

const run = (args: readonly string[], env: Variables): Running =>
  startProgram(process.execPath, ["--import", "tsx", ...args], env);

interface Worker {
  readonly service: Running;
  readonly port: string;
}

const MAIN = ["examples/deploy/main.ts"];

/** Starts it, and waits until it listens. Its log goes to stderr, which is looked at here as if it were stdout. */
async function listening(env: Variables): Promise<Running> {
  const command = [process.execPath, "--import", "tsx", ...MAIN].join(" ");
  const service = startProgram("/bin/sh", ["-c", `exec ${command} 2>&1`], env);
  await service.said(/the service listens/);
  return service;
}

async function surroundings(rpcUrl: string): Promise<Variables> {
  const folder = await newDataFolder();
  await mkdir(folder);
  const secret = join(folder, "master-secret");
  await writeFile(secret, `${randomBytes(32).toString("hex")}\n`);
  const endpoints = join(folder, "endpoints.json");
  await writeFile(
    endpoints,
    JSON.stringify([{ url: rpcUrl, requestsPerSecond: 1_000, sendsPerSecond: 100 }]),
  );
  return {
    DATABASE: join(folder, "payments.db"),
    MASTER_SECRET_FILE: secret,
    HOST: "127.0.0.1",
    PORT: "0",
    ENDPOINTS_FILE: endpoints,
  };
}

interface Entry {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}
const entries = ({ stdout }: { readonly stdout: string }): readonly Entry[] =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Entry);

/** Where it listens. Other lines may stand behind that one, and the last may not be whole yet. */
function portOf(service: Running): string {
  const line = service
    .stdout()
    .split("\n")
    .find((each) => each.includes('"the service listens"'));
  if (line === undefined) throw new Error("the service does not listen");
  return String((JSON.parse(line) as Entry)["port"]);
}

test("the deployed service answers its probes, logs lines of JSON, and ends with 0 on SIGTERM", async () => {
  const chain = await createLocalChain({ clock: systemClock });
  const { url } = await chain.listen({ host: "127.0.0.1", port: 0 });
  const env = await surroundings(url);
  const service = await listening(env);
  const port = portOf(service);
  for (const path of ["/health/live", "/health/ready"]) {
    expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(200);
  }
  expect((await fetch(`http://127.0.0.1:${port}/v1/tokens`)).status).toBe(401);

  // The doctor asks the same module in a process of its own, beside the one that runs.
  const asked = ["--service", "examples/deploy/service.ts", "--database", env.DATABASE, "--json"];
  const { stdout } = await runCommand(["doctor", ...asked], env);
  const { findings } = JSON.parse(stdout) as {
    readonly findings: readonly { readonly check: string; readonly verdict: string }[];
  };
  expect(findings.filter(({ verdict }) => verdict === "wrong")).toEqual([]);
  const fine = findings.filter(({ verdict }) => verdict === "ok").map(({ check }) => check);
  for (const check of [
    "integrity",
    "chain",
    "endpoint 127.0.0.1",
    "witnesses",
    "master secret 1",
    "work due",
  ]) {
    expect(fine).toContain(check);
  }

  const ended = await service.end("SIGTERM");
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  const logged = entries(ended);
  expect(logged.at(-1)).toMatchObject({ level: 30, msg: "the service stops" });
  const secret = (await readFile(env.MASTER_SECRET_FILE, "utf8")).trim();
  expect(ended.stdout).not.toContain(secret);
  await chain.close();
});

test.skipIf(!HAS_POSTGRES)(
  "two of them share one PostgreSQL, and each is restarted while the other stays ready",
  async () => {
    const chain = await createLocalChain({ clock: systemClock });
    const { url } = await chain.listen({ host: "127.0.0.1", port: 0 });
    const own = new URL(await postgresUrl());
    const admin = new pg.Client({ connectionString: own.href });
    await admin.connect();
    await admin.query("create database of_deployment");
    await admin.end();
    own.pathname = "/of_deployment";
    const env = { ...(await surroundings(url)), DATABASE: own.href };
    const started = async (): Promise<Worker> => {
      const service = await listening(env);
      return { service, port: portOf(service) };
    };
    const workers = await Promise.all([started(), started()]);
    for (const [index, staying] of [
      [0, 1],
      [1, 0],
    ] as const) {
      expect(await workers[index].service.end("SIGTERM")).toMatchObject({ code: 0 });
      const { port } = workers[staying];
      expect((await fetch(`http://127.0.0.1:${port}/health/ready`)).status).toBe(200);
      workers[index] = await started();
    }
    for (const { service } of workers) expect(await service.end("SIGTERM")).toMatchObject({ code: 0 });
    await chain.close();
  },
);

test("on a silent chain it listens all the same, says in its log what waits, and ends with 0", async () => {
  const env = await surroundings("http://127.0.0.1:9");
  const service = await listening(env);
  const logged = entries({ stdout: service.stdout() });
  expect(logged.map(({ msg }) => msg).join("\n")).toContain("the chain has not been reached since the start");
  const port = portOf(service);
  expect((await fetch(`http://127.0.0.1:${port}/health/ready`)).status).toBe(200);
  expect(await service.end("SIGTERM")).toMatchObject({ code: 0 });
});

test.each([
  [{ ENDPOINTS_FILE: "" }, "ENDPOINTS_FILE is missing"],
  [{ APPROVALS: "3" }, "APPROVALS 3: expected 1 or 2"],
  [{ MASTER_SECRET_FILE: "package.json" }, "package.json: expected 64 hexadecimal digits"],
])("%o is refused with a sentence", async (wrong, sentence) => {
  const { code, stderr } = await run(MAIN, { ...(await surroundings("http://127.0.0.1:9")), ...wrong }).ended;
  expect(code).toBe(1);
  expect(stderr).toContain(sentence);
});
