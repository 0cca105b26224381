/** `npm run demo`: what a stranger sees first. It tells its story in under 20 seconds and leaves nothing behind. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { leaveNothing, type Running, startProgram, withoutPackage } from "./command.ts";

// oxlint-disable-next-line eslint/no-control-regex -- what colours begin with
const ANSI = /\u001b\[/;

let temporary: string;

beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), "paystate-cli-"));
});

afterEach(async () => {
  await leaveNothing();
  await rm(temporary, { recursive: true });
});

/** Runs the script of package.json, with a place of its own for temporary files. */
function startDemo(env: Readonly<Record<string, string>> = {}): Running {
  return startProgram("npm", ["run", "--silent", "demo"], { TMPDIR: temporary, ...env });
}

/** The command lines of processes that still run out of the demo's folder; by its environment it is known as ours. */
async function demoProcesses(): Promise<string[]> {
  const { stdout } = await startProgram("ps", ["-A", "e", "-o", "args"]).ended;
  return stdout.split("\n").filter((line) => line.includes("examples/demo/") && line.includes(temporary));
}

/** tsx keeps its cache in the temporary folder, too. */
async function expectNothingLeft(): Promise<void> {
  await expect.poll(demoProcesses, { timeout: 5_000 }).toEqual([]);
  expect((await readdir(temporary)).filter((name) => name.startsWith("paystate"))).toEqual([]);
}

test("two payments go from quote to completed, the second over a SIGKILL, in under 20 seconds", async () => {
  const started = performance.now();
  const { code, stdout, stderr } = await startDemo().ended;
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
  expect(performance.now() - started).toBeLessThan(20_000);
  expect(stdout).not.toMatch(ANSI);
  const [, first = "", second = "", end = ""] = stdout.split(/\n\n(?=\S)/);
  for (const act of [first, second]) {
    // Whoever polls may miss a status that did not last; the notices come all the same, and in order.
    expect(act).toMatch(/status +pending\n[^]*status +(pending|confirmed) → completed\n/);
    expect(
      [...act.matchAll(/webhook transaction\.(\w+), signature verified/g)].map(([, name]) => name),
    ).toEqual(expect.arrayContaining(["pending", "confirmed", "completed"]));
    expect(act).toMatch(/on chain +[1-9A-HJ-NP-Za-km-z]{87,88}\n/);
  }
  expect(first).toMatch(
    /before +Alice has 1000 USDC, Bob has 3 USDC\n[^]*after +Alice has 987\.5 USDC, Bob has 15\.5 USDC/,
  );
  expect(second).toMatch(/kill [^]*restart [^]*after +Alice has 975 USDC, Bob has 28 USDC/);
  expect(end).toMatch(/^Each payment was made once/);
  await expectNothingLeft();
}, 40_000);

test("when it fails it says why, exits with 1 and leaves nothing", async () => {
  const { code, stderr } = await startDemo(withoutPackage("litesvm-")).ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(/The local chain needs the package litesvm-/);
  await expectNothingLeft();
}, 40_000);

test("ended by a signal in the middle of a payment, it undoes everything", async () => {
  // npm would keep the signal to itself.
  const demo = startProgram(process.execPath, ["--import", "tsx", "examples/demo/main.ts"], {
    TMPDIR: temporary,
  });
  await demo.said(/status +pending/);
  expect(await demoProcesses()).not.toEqual([]);
  expect(await demo.end("SIGTERM")).toMatchObject({ code: 130, stderr: "" });
  await expectNothingLeft();
}, 40_000);

// Other systems have no `script` that takes its keys from a pipe.
test.runIf(process.platform === "linux")(
  "on a terminal it is coloured, and Ctrl-C undoes everything and says no more",
  async () => {
    const demo = startProgram("script", ["-qec", "npm run --silent demo", "/dev/null"], {
      TMPDIR: temporary,
      TERM: "xterm-256color",
    });
    await demo.said(/status/);
    expect(demo.stdout()).toMatch(ANSI);
    demo.type("\u0003");
    const { stdout } = await demo.ended;
    expect(stdout).toMatch(/\^C\s*$/);
    await expectNothingLeft();
  },
  40_000,
);
