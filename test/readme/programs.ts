/** Programs run as a reader runs them: each leads a process group, so that whatever it starts ends with it. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

/** A program with everything it started. */
export interface RunningProgram {
  /** What it has written to stdout and stderr so far. */
  output(): string;
  /** Resolves once it has written what matches, with the match; rejects when it ends before that. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Asks it to end, and waits for that. */
  stop(): Promise<number | string>;
}

const running = new Map<ChildProcess, Promise<unknown>>();

/** Starts a program; `env` comes on top of this process's own. */
export function startProgram(
  command: string,
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): RunningProgram {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const listeners = new Set<() => void>();
  const hear = (text: string): void => {
    output += text;
    for (const listener of listeners) listener();
  };
  child.stdout.setEncoding("utf8").on("data", hear);
  child.stderr.setEncoding("utf8").on("data", hear);
  const ended = once(child, "close").then(([code, signal]) => {
    running.delete(child);
    return (code ?? signal) as number | string;
  });
  running.set(child, ended);
  return {
    output: () => output,
    ended,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(output);
          if (match === null) return;
          listeners.delete(look);
          resolve(match);
        };
        listeners.add(look);
        look();
        const before = (how: unknown): void =>
          reject(new Error(`ended (${String(how)}) before it said ${String(pattern)}: ${output}`));
        ended.then(before, before);
      }),
    async stop() {
      endGroup(child, "SIGTERM");
      return ended;
    },
  };
}

/** Ends all that still run, with SIGKILL, and waits for that. */
export async function endPrograms(): Promise<void> {
  const last = [...running];
  for (const [child] of last) endGroup(child, "SIGKILL");
  await Promise.allSettled(last.map(([, ended]) => ended));
}

/** Signals the group of a child that has not been seen to end, so that its id is still its own. */
function endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined || !running.has(child)) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It has just ended by itself.
  }
}

/** A port that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
