/** The `paystate` command as a child process: compiled from the sources, watched, and ended by its handle. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { program } from "../programs/programs.ts";

/** The project's root. */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** How a process ended and what it said. */
export interface Ended {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process that may still run. */
export interface Running {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** What it has written to stdout so far. */
  stdout(): string;
  /** Resolves once stdout matches; rejects when the process ends before. */
  said(expected: RegExp | ((stdout: string) => boolean)): Promise<void>;
  /** Types on its stdin. */
  type(text: string): void;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<Ended>;
}

const running = new Set<Running>();
const folders = new Set<string>();

/** Starts a program in the project's root, its output read through pipes. */
export function startProgram(
  executable: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Running {
  const child = spawn(executable, args, {
    cwd: ROOT,
    stdio: "pipe",
    // What colours output, or what the test runner needs itself, is none of the command's business.
    // What a terminal can show is decided by the terminal, not by where the tests run.
    env: {
      ...process.env,
      NODE_OPTIONS: "",
      CI: undefined,
      FORCE_COLOR: undefined,
      NO_COLOR: undefined,
      ...env,
    },
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const ended = once(child, "close").then(([code, signal]): Ended => {
    running.delete(handle);
    return { code: code as number | null, signal: signal as NodeJS.Signals | null, ...output };
  });
  const handle: Running = {
    pid: child.pid ?? 0,
    ended,
    stdout: () => output.stdout,
    said: (expected) =>
      new Promise((resolve, reject) => {
        const isSaid = typeof expected === "function" ? expected : (text: string) => expected.test(text);
        const look = (): void => {
          if (isSaid(output.stdout)) resolve();
        };
        child.stdout.on("data", look);
        look();
        void ended.then(({ stderr }) =>
          reject(new Error(`ended before it said ${String(expected)}: ${stderr}`)),
        );
      }),
    type: (text) => void child.stdin.write(text),
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
  running.add(handle);
  return handle;
}

/** Starts `paystate` with these arguments. */
export function startCommand(args: readonly string[], env?: Readonly<Record<string, string>>): Running {
  return startProgram(process.execPath, [...program("paystate"), ...args], env);
}

/** Runs `paystate` to its end. */
export function runCommand(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended> {
  return startCommand(args, env).ended;
}

/** A path for a data folder; nothing is there yet. */
export async function newDataFolder(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), "paystate-cli-"));
  folders.add(parent);
  return join(parent, "data");
}

/** Ends every process that a test left running and removes every data folder. For `afterAll`. */
export async function leaveNothing(): Promise<void> {
  await Promise.all([...running].map((handle) => handle.end("SIGKILL")));
  await Promise.all([...folders].map((folder) => rm(folder, { recursive: true, force: true })));
}

/** Options of Node with which no package whose name begins so can be found. */
export function withoutPackage(name: string): Readonly<Record<string, string>> {
  return preloading(`
    import Module from "node:module";
    const resolve = Module._resolveFilename;
    Module._resolveFilename = (wanted, ...rest) => resolve(wanted.startsWith("${name}") ? "./gone" : wanted, ...rest);
    Module.register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(importsWithout(name))}`)});
  `);
}

/** A hook of Node's by which imports find no such package either. */
function importsWithout(name: string): string {
  return `
    export const resolve = (wanted, context, next) => {
      if (!wanted.startsWith("${name}")) return next(wanted, context);
      throw Object.assign(new Error("Cannot find package " + wanted), { code: "ERR_MODULE_NOT_FOUND" });
    };
  `;
}

/** Options of Node with which the native part of a package turns out to be no library of this machine. */
export function withBrokenBinary(name: string): Readonly<Record<string, string>> {
  return preloading(`
    const dlopen = process.dlopen;
    process.dlopen = (module, file, ...rest) =>
      dlopen.call(process, module, file.includes("${name}") ? ${JSON.stringify(import.meta.filename)} : file, ...rest);
  `);
}

function preloading(source: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` };
}
