/** Child processes that say in one line of JSON that they are ready. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** A process that is ready. */
export interface StartedProcess<Ready> {
  readonly ready: Ready;
  /** Asks it to end, and waits. */
  readonly stop: () => Promise<void>;
  /** Ends it with SIGKILL: it gets no chance to finish anything. */
  readonly kill: () => Promise<void>;
}

/** Runs a script of this folder. Rejects when it ends before it is ready. */
export function startProcess<Ready>(script: string, args: readonly string[]): Promise<StartedProcess<Ready>> {
  const child = spawn(process.execPath, ["--import", "tsx", script, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
  });
  const end = (signal: NodeJS.Signals) => async (): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", (line) => {
      resolve({ ready: JSON.parse(line) as Ready, stop: end("SIGTERM"), kill: end("SIGKILL") });
    });
    void exited.then(() => reject(new Error(`${script} ended before it was ready`)));
  });
}
