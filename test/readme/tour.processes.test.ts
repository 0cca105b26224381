/** The payment by hand, pasted into a shell as a reader would. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { blocksOf, textOf } from "./page.ts";
import { endPrograms, startProgram } from "./programs.ts";
import { removeScratchFolder, makeScratchFolder } from "./scratch-folder.ts";

const PAGE = "src/cli/by-hand.md";

let scratch = "";
beforeEach(() => {
  scratch = makeScratchFolder();
});
afterEach(async () => {
  await endPrograms();
  removeScratchFolder(scratch);
});

/** The command for the second terminal, on free ports, a data folder of its own and a chain that hurries. */
function serviceCommand(): string {
  const [command, ...more] = blocksOf(PAGE, "sh").filter((code) => code.includes("ready.json"));
  if (command === undefined || more.length > 0) throw new Error("expected one command that makes ready.json");
  const hurried = command.replace("--json", '--json --port 0 --rpc-port 0 --slot-ms 100 --data "$PWD/data"');
  expect(hurried).not.toBe(command);
  return hurried;
}

test("the payment by hand ends completed, with Bob paid and every notice genuine", async () => {
  const [certificate = "", ...rest] = blocksOf(PAGE, "sh tour");
  const script = [
    "set -euo pipefail",
    "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT",
    certificate,
    "echo second terminal",
    "until [ -s ready.json ]; do sleep 0.05; done",
    ...rest,
  ].join("\n");
  const reader = startProgram("bash", ["-c", script], { cwd: scratch });
  await reader.says(/second terminal/);
  const folder = join(scratch, ".paystate", "tour");
  const service = startProgram("bash", ["-c", serviceCommand()], { cwd: folder });

  const how = await Promise.race([reader.ended, service.ended.then((end) => `the service ended (${end})`)]);
  expect(how, `${reader.output()}\n${service.output()}`).toBe(0);
  expect(readFileSync(join(folder, "ready.json"), "utf8").split("\n")).toHaveLength(2);
  expect(existsSync(join(folder, "data", "payments.db"))).toBe(true);

  const answers = reader
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const [webhook, sent, transaction, balances] = answers;
  expect(webhook?.["webhookId"]).toMatch(/^wh_/);
  expect(sent).toMatchObject({ status: "pending", mode: "wallet" });
  expect(transaction).toMatchObject({ transactionId: sent?.["transactionId"], status: "completed" });
  expect(balances?.["tokens"]).toContainEqual(
    expect.objectContaining({ symbol: "USDC", balance: "10012.5" }),
  );
  expect(readFileSync(join(folder, "hook.log"), "utf8").trim().split("\n").slice(1)).toEqual([
    "transaction.pending is genuine",
    "transaction.confirmed is genuine",
    "transaction.completed is genuine",
  ]);
  await service.stop();
});

test("the first page has the two commands of a clone, and 6 kB at most", () => {
  const page = textOf("README.md");
  expect(page).toContain("npm ci && npm run demo");
  expect(page).toContain("npm ci && npm test");
  expect(Buffer.byteLength(page)).toBeLessThanOrEqual(6_000);
});
