/** `npm run demo`: what a stranger sees first. It tells its stories in under a minute and leaves nothing behind. */
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { QUICK } from "../kit/thorough.ts";
import { HAS_POSTGRES, postgresUrl } from "../programs/ask-postgres.ts";
import { leaveNothing, type Running, startProgram, withoutPackage } from "./command.ts";

// oxlint-disable-next-line eslint/no-control-regex -- what colours begin with
const ANSI = /\u001b\[/;

let temporary: string;

// One for all tests: tsx keeps what it has compiled there, so that only the first demo has to wait for that.
beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), "paystate-cli-"));
  // A PostgreSQL server of a demo that root runs has another user, who passes through here.
  await chmod(temporary, 0o711);
});

afterEach(leaveNothing);

afterAll(() => rm(temporary, { recursive: true }));

/** Runs the script of package.json, with a place of its own for temporary files. */
function startDemo(acts: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Running {
  return startProgram("npm", ["run", "--silent", "demo", "--", ...acts], { TMPDIR: temporary, ...env });
}

/** The notices that an act says it received and verified. */
function noticesIn(act: string): readonly (string | undefined)[] {
  return [...act.matchAll(/✓ webhook transaction\.(\w+), signature verified/g)].map(([, name]) => name);
}

/** What every payment that is completed shows, whatever its act. */
function expectCompleted(act: string): void {
  // Whoever polls may miss a status that did not last; the notices come all the same.
  expect(act).toMatch(/status +pending\n[^]*status +\w+ → completed\n/);
  expect(act).toMatch(/on chain +[1-9A-HJ-NP-Za-km-z]{87,88}\n/);
  expect(noticesIn(act)).toEqual(expect.arrayContaining(["pending", "confirmed", "completed"]));
}

/** Whether the bar was drawn with two different counts. No one pattern says so: over a long line it would take minutes. */
function barHasGrown(stdout: string): boolean {
  const counts = [...stdout.matchAll(/(\d+) of 100 people/g)].map(([, count]) => count);
  return stdout.includes("█") && new Set(counts).size > 1;
}

/** The command lines of processes that still run out of the demo's folder; by its environment it is known as ours. */
async function demoProcesses(): Promise<string[]> {
  const { stdout } = await startProgram("ps", ["-A", "e", "-o", "args"]).ended;
  return stdout.split("\n").filter((line) => line.includes("examples/demo/") && line.includes(temporary));
}

/** What else is in the temporary folder is the cache of tsx. */
async function expectNothingLeft(): Promise<void> {
  await expect.poll(demoProcesses).toEqual([]);
  expect((await readdir(temporary)).filter((name) => name.startsWith("paystate"))).toEqual([]);
}

// A minute for those that play a story to its end: CI has it.
test.runIf(!QUICK)(
  "all acts are played in turn, as plain text, and leave nothing",
  async () => {
    const { code, stdout, stderr } = await startDemo().ended;
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
    expect(stdout).not.toMatch(ANSI);
    expect(stdout).not.toContain("\r");
    const [, first = "", second = "", inPrivate = "", payroll = "", swap = "", end] =
      stdout.split(/\n\n(?=\S)/);

    for (const act of [first, second, inPrivate, swap]) expectCompleted(act);
    expect(first).toMatch(
      /before +Alice has 1000 USDC, Bob has 3 USDC\n[^]*after +Alice has 987\.5 USDC, Bob has 15\.5 USDC/,
    );
    expect(second).toMatch(/kill [^]*restart [^]*after +Alice has 975 USDC, Bob has 28 USDC/);

    expect(inPrivate).toMatch(/to deposit 25\.078\d+ USDC\n +of which fee 0\.078\d+ USDC: network/);
    expect(inPrivate).toMatch(
      /uri +solana:\w+\?amount=25\.078\d+&spl-token=\w+&reference=\w+&label=tx_\w+\n( +[█▄▀ ]+\n){20}/,
    );
    expect(inPrivate).toMatch(
      /deposit [^]*kill [^]*restart [^]*after +Alice has 949\.921\d+ USDC, Bob has 53 USDC/,
    );
    expect(inPrivate).toMatch(/✓ Bob got exactly 25 USDC, once, \d+\.\d s after the deposit/);
    expect(inPrivate).toContain("✓ the transaction that paid Bob does not name Alice");
    expect(inPrivate).toContain("the small account that it made first stays");

    const counts = [...payroll.matchAll(/paid +(\d+) of 100 people\n/g)].map(([, count]) => Number(count));
    expect(counts).toEqual([...new Set(counts)].toSorted((one, other) => one - other));
    expect(counts.at(-1)).toBe(99);
    expect(payroll).toMatch(
      /→ failed\n( +paid +99 of 100 people\n)? +reason +PARTIAL_PAYOUT: 99 were paid, 1 was not\n/,
    );
    expect(payroll).toContain("✓ 99 people got exactly their own amount, once");
    // How long programs seek the accounts of new wallets decides what is bid: some ten-thousandths more or less.
    expect(payroll).toMatch(/✓ 156\.40\d+ deposited = 149\.08 paid \+ 1\.4\d+ refunded \+ 5\.9\d+ kept/);
    expect(noticesIn(payroll)).toEqual(expect.arrayContaining(["pending", "failed"]));

    expect(swap).toMatch(
      /quote +\w+, 1 SOL for (\d+\.\d+) USDC [^]*✓ Alice gave exactly 1 SOL [^]* exactly \1 USDC/,
    );
    expect(end).toMatch(/^Each payment was made once/);
    await expectNothingLeft();
  },
  240_000,
);

/** The last sentences of a payment whose service was killed. */
const KILLED_AND_PAID = /kill [^]*restart [^]*after +Alice has 975 USDC, Bob has 28 USDC/;

test.runIf(!QUICK && HAS_POSTGRES)(
  "with --postgres the service works on a server of the demo's own, is killed there too, and nothing is left",
  async () => {
    const { code, stdout, stderr } = await startDemo(["send", "--postgres"]).ended;
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/database +postgres:\/\/127\.0\.0\.1:\d+\/postgres, schema paystate_demo_/);
    expect(stdout).toMatch(KILLED_AND_PAID);
    await expectNothingLeft();
  },
  120_000,
);

test.runIf(!QUICK && HAS_POSTGRES)(
  "with --postgres URL it works in a schema of its own on that server, which it drops, and shows no password",
  async () => {
    const url = new URL(await postgresUrl());
    url.password = "hunter2";
    const { code, stdout, stderr } = await startDemo(["--postgres", url.href, "send"]).ended;
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(KILLED_AND_PAID);
    expect(stdout).not.toContain("hunter2");
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    const { rows } = await client.query(
      "select nspname from pg_namespace where nspname like 'paystate\\_demo\\_%'",
    );
    await client.end();
    expect(rows).toEqual([]);
    await expectNothingLeft();
  },
  120_000,
);

test.each([
  [
    ["--postgres", "postgres://me:hunter2@127.0.0.1:1/db"],
    "PostgreSQL does not answer: start it, or mend the",
  ],
  [
    ["--postgres", "mysql://me:hunter2@h/db"],
    "PostgreSQL takes a URL such as postgres://user@host:5432/database",
  ],
  [["--postgres", "payments.db"], 'there is no act "payments.db"'],
  [["engine", "--postgres"], "the act engine works on a file: play it without --postgres"],
])("%j is refused in one sentence, and leaves nothing", async (args, sentence) => {
  const { code, stdout, stderr } = await startDemo(args).ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(/^demo: .+\n$/);
  expect(stderr).toContain(sentence);
  expect(stdout + stderr).not.toContain("hunter2");
  await expectNothingLeft();
});

test("the engine's act kills a chart in the middle: what was answered is kept, the rest is asked again", async () => {
  const { code, stdout, stderr } = await startDemo(["engine"]).ended;
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(
    /asking Alpha[^]*Alpha has answered\n[^]*kill [^]*restart [^]*approved\n[^]*✓ what was/,
  );
  await expectNothingLeft();
});

test("an act that does not exist is an error that names those that do", async () => {
  expect(await startDemo(["send", "paroll"]).ended).toMatchObject({
    code: 1,
    stdout: "",
    stderr: 'demo: there is no act "paroll": choose from send, private, payroll, swap, engine\n',
  });
  await expectNothingLeft();
});

test("when it fails it says why, exits with 1 and leaves nothing", async () => {
  const { code, stderr } = await startDemo(["send"], withoutPackage("litesvm-")).ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(/The local chain needs the package litesvm-/);
  await expectNothingLeft();
}, 120_000);

test("ended by a signal in the middle of a payment, it undoes everything", async () => {
  // npm would keep the signal to itself.
  const demo = startProgram(process.execPath, ["--import", "tsx", "examples/demo/main.ts"], {
    TMPDIR: temporary,
  });
  await demo.said(/status +pending/);
  expect(await demoProcesses()).not.toEqual([]);
  expect(await demo.end("SIGTERM")).toMatchObject({ code: 130, stderr: "" });
  await expectNothingLeft();
}, 120_000);

// Other systems have no `script` that takes its keys from a pipe.
test.runIf(process.platform === "linux" && !QUICK)(
  "on a terminal it is coloured, a payroll has a bar that grows, and Ctrl-C undoes everything and says no more",
  async () => {
    const demo = startProgram("script", ["-qec", "npm run --silent demo -- payroll", "/dev/null"], {
      TMPDIR: temporary,
      TERM: "xterm-256color",
    });
    await demo.said(barHasGrown);
    expect(demo.stdout()).toMatch(ANSI);
    demo.type("\u0003");
    const { stdout } = await demo.ended;
    expect(stdout).toMatch(/\^C\s*$/);
    await expectNothingLeft();
  },
);
