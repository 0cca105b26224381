/** Runs parts beside one another, each as soon as what it waits for is over, and keeps what each said. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Part } from "./parts.ts";

/** How a part ended. */
export interface Ended {
  readonly part: Part;
  readonly isGood: boolean;
  readonly seconds: number;
  readonly output: string;
}

/** So many at once: the tests alone use two cores, and wait for processes in between. */
const LANES = 2;
/** What takes longer hangs. */
const LIMIT_MS = 45 * 60_000;

/**
 * Runs all, in the order of the list as far as they need not wait. A part runs whatever became of those before it.
 * @param parts each waits for parts of this list alone
 * @param told called with each as it ends
 */
export async function runParts(
  parts: readonly Part[],
  told: (ended: Ended) => void,
): Promise<readonly Ended[]> {
  const names = new Set(parts.map(({ name }) => name));
  const waiting = [...parts];
  const ended: Ended[] = [];
  const running = new Map<string, Promise<void>>();
  const isReady = ({ after = [] }: Part): boolean =>
    after.every((name) => !names.has(name) || ended.some(({ part }) => part.name === name));
  while (waiting.length > 0 || running.size > 0) {
    const next = running.size < LANES ? waiting.findIndex(isReady) : -1;
    const [part] = next === -1 ? [] : waiting.splice(next, 1);
    if (part !== undefined) {
      running.set(
        part.name,
        run(part).then((result) => {
          running.delete(part.name);
          ended.push(result);
          told(result);
        }),
      );
    } else if (running.size > 0) {
      await Promise.race(running.values());
    } else {
      throw new Error(`these parts wait for one another: ${waiting.map(({ name }) => name).join(", ")}`);
    }
  }
  return ended;
}

/** The output goes into a file, so that a program that a part has left behind cannot hold its end up. */
async function run(part: Part): Promise<Ended> {
  const began = performance.now();
  const path = join(mkdtempSync(join(tmpdir(), "paystate-verify-")), "output");
  const file = openSync(path, "w");
  const [program, ...args] = part.command;
  const child = spawn(program, args, { stdio: ["ignore", file, file], timeout: LIMIT_MS });
  const code = await once(child, "exit").then(
    ([given]) => given as number | null,
    (error: unknown) => String(error),
  );
  closeSync(file);
  const seconds = (performance.now() - began) / 1_000;
  const said = readFileSync(path, "utf8");
  rmSync(dirname(path), { recursive: true });
  const ending =
    typeof code === "number" ? "" : `\nended without a word: ${code ?? "killed, or out of time"}`;
  return { part, isGood: code === 0, seconds, output: `${said}${ending}` };
}
