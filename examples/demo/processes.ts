/** Child processes that say in one line of JSON that they are ready. */
import { spawn } from "node:child_process";
import { basename } from "node:path";
import { createInterface } from "node:readline";

/** A process that is ready. */
export interface StartedProcess<Ready> {
  readonly ready: Ready;
  /** Ends it with SIGKILL: it gets no chance to finish anything. */
  readonly kill: () => Promise<void>;
}

type End = (signal: NodeJS.Signals) => Promise<void>;

/** How to end each process that runs, also those that are not ready yet. */
const running = new Set<End>();
let isOver = false;

/** Runs a script of this folder. Rejects when it ends before it is ready, and once all were ended. */
export function startProcess<Ready>(script: string, args: readonly string[]): Promise<StartedProcess<Ready>> {
  if (isOver) return Promise.reject(new Error("the demo is over"));
  const child = spawn(process.execPath, ["--import", "tsx", script, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
  });
  const end: End = (signal) => {
    child.kill(signal);
    return exited;
  };
  running.add(end);
  void exited.then(() => running.delete(end));
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", (line) => {
      resolve({ ready: JSON.parse(line) as Ready, kill: () => end("SIGKILL") });
    });
    void exited.then(() => reject(new Error(`${basename(script)} ended before it was ready`)));
  });
}

/** Ends every process that was started, and waits for it. None is started any more. */
export async function endProcesses(): Promise<void> {
  isOver = true;
  await Promise.all([...running].map((end) => end("SIGTERM")));
}
