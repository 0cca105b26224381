/** The example of an order, run as a reader would run it, and killed in the middle. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test as vitestTest } from "vitest";

const main = fileURLToPath(new URL("../../examples/order/main.ts", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

interface Program {
  /** The lines it has printed so far. */
  readonly lines: string[];
  /** Resolves when it prints a line that contains the text; rejects when it ends before that. */
  says(text: string): Promise<void>;
  kill(): void;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

function startProgram(file: string): Program {
  // tsx as a loader: one process, so that the kill meets the program itself.
  const child = spawn(process.execPath, ["--import", "tsx", main, file], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let errors = "";
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    const whole = output.split("\n");
    output = whole.pop() ?? "";
    lines.push(...whole);
    for (const listener of listeners) listener();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const ended = once(child, "close").then(([code, signal]) => (code ?? signal) as number | string);
  return {
    lines,
    ended,
    kill: () => child.kill("SIGKILL"),
    says: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (lines.some((line) => line.includes(text))) resolve();
        };
        listeners.add(look);
        look();
        void ended.then((how) =>
          reject(new Error(`it ended (${how}) before it said "${text}": ${lines.join(" | ")} ${errors}`)),
        );
      }),
  };
}

const test = vitestTest.extend("file", async ({}, { onCleanup }) => {
  const folder = await mkdtemp(join(tmpdir(), "paystate-order-"));
  onCleanup(() => rm(folder, { recursive: true }));
  return join(folder, "orders.db");
});

test("E5: killed between order and reminder, it goes on where it was: one reminder, one end", async ({
  file,
}) => {
  const first = startProgram(file);
  await first.says("order-1 is placed");
  first.kill();
  expect(await first.ended).toBe("SIGKILL");
  expect(first.lines.join("\n")).not.toContain("reminder 1");

  const second = startProgram(file);
  expect(await second.ended).toBe(0);
  const said = (text: string): number => second.lines.filter((line) => line.includes(text)).length;
  expect(said("order-1 goes on, state: unpaid")).toBe(1);
  expect(said("is placed")).toBe(0);
  expect(said("reminder ")).toBe(1);
  expect(said("is being packed")).toBe(1);
  expect(said("thank you: order-1 is on its way as parcel-7")).toBe(1);
  expect(said("order-1 has come to its end")).toBe(1);

  const third = startProgram(file);
  expect(await third.ended).toBe(0);
  expect(third.lines.filter((line) => line.includes("reminder"))).toEqual([]);
  expect(third.lines).toContain("order-1 goes on, state: sent");
});
