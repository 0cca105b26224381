/** A chart of three invoked promises, killed in the middle and resumed; it needs no chain and no service. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { atTheEnd } from "../clean-up.ts";
import { ok, step, title } from "../screen.ts";

const PROGRAM = fileURLToPath(new URL("../../credit-check/main.ts", import.meta.url));

const COMMITTED_MS = 500;

export async function creditCheck(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "paystate-demo-"));
  atTheEnd(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "credit.db");

  title("A credit check asks three bureaus, and is killed (SIGKILL) when one has answered");
  const before = await run(file, "Alpha has answered");
  step("kill", "the process");
  step("restart", "on the same file");
  const after = await run(file, null);
  const again = after.filter((line) => line.startsWith("asking"));
  assert(before.includes("asking Alpha") && !again.includes("asking Alpha"), "Alpha was asked twice");
  assert(again.length === 2, "the bureaus that had not answered were not asked again");
  assert(after.at(-1) === "approved", "the check did not come to its end");
  ok("what was answered is kept, the other two were asked again, and the check came to its end");
}

/** Runs the program and says what it says: to its end, or until it has said this; then it is killed. */
async function run(file: string, killAt: string | null): Promise<readonly string[]> {
  const child = spawn(process.execPath, ["--import", "tsx", PROGRAM, file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  atTheEnd(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    step("says", line);
    if (killAt === null || line !== killAt) continue;
    // The answer is committed a moment after it was given.
    await setTimeout(COMMITTED_MS);
    child.kill("SIGKILL");
    break;
  }
  await ended;
  return lines;
}
