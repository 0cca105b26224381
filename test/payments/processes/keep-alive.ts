/** A child process that is started again whenever it was killed. */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { program } from "../../programs/programs.ts";

/** A program that is kept running. */
export interface KeptAlive<Ready> {
  /** What the process that runs now, or is just starting, says once it is ready. */
  ready(): Promise<Ready>;
  /** SIGKILL, as soon as it is ready; the next process starts at once. */
  kill(): Promise<void>;
  /** SIGKILL, and no next process. */
  end(): Promise<void>;
}

// A service cannot start while its chain is down; more often than this it has another reason.
const MAX_FAILED_STARTS = 20;

/** Runs the program with these settings, asked for at every start, as one argument of JSON. */
export function keepAlive<Ready>(
  name: Parameters<typeof program>[0],
  settings: () => unknown,
): KeptAlive<Ready> {
  let running: { readonly child: ChildProcess; readonly exited: Promise<void> } | null = null;
  let hasEnded = false;

  const start = async (): Promise<Ready> => {
    const complaints: string[] = [];
    for (let failed = 0; failed < MAX_FAILED_STARTS && !hasEnded; failed++) {
      const args = [...program(name), JSON.stringify(settings())];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
      child.stderr.on("data", (chunk) => complaints.push(String(chunk)));
      const exited = new Promise<void>((resolve) => {
        child.once("exit", () => resolve());
      });
      running = { child, exited };
      const line = new Promise<string>((resolve) => {
        createInterface({ input: child.stdout }).once("line", resolve);
      });
      const said = await Promise.race([line, exited]);
      if (said !== undefined) return JSON.parse(said) as Ready;
    }
    throw new Error(`${name} could not be started: ${complaints.join("")}`);
  };

  let up = start();
  const killNow = async (): Promise<void> => {
    running?.child.kill("SIGKILL");
    await running?.exited;
  };
  return {
    ready: () => up,
    async kill() {
      await up;
      // Whoever asks from now on waits for the next one.
      up = killNow().then(start);
    },
    async end() {
      hasEnded = true;
      await killNow();
    },
  };
}
