/** A process of a bench: it is given settings, says that it is ready, and answers each message with one. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";

/** A running process, and what it said first. */
export interface Child<Ready> {
  readonly ready: Ready;
  readonly pid: number;
  /** Resolves with the answer; rejects where the process ends without one. */
  ask<Answer>(message: string | number | object): Promise<Answer>;
  end(): Promise<void>;
}

/** The program beside the built bench that this source becomes: what it costs is none of what this process costs. */
export const programOf = (name: string): URL => new URL(`./${name}.js`, import.meta.url);

export async function startChild<Ready>(program: URL | string, settings: unknown): Promise<Child<Ready>> {
  const child = fork(program, [JSON.stringify(settings)], { execArgv: ["--no-deprecation"] });
  const ready = await said<Ready>(child);
  return {
    ready,
    pid: child.pid ?? 0,
    async ask<Answer>(message: string | number | object) {
      const answer = said<Answer>(child);
      child.send(message);
      return answer;
    },
    async end() {
      const exit = once(child, "exit");
      child.kill("SIGKILL");
      await exit;
    },
  };
}

async function said<T>(child: ChildProcess): Promise<T> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const ended = once(child, "exit", { signal }).then((): never => {
    throw new Error(`${child.spawnargs.join(" ")} ended without a word`);
  });
  try {
    const [message] = (await Promise.race([once(child, "message", { signal }), ended])) as [T];
    return message;
  } finally {
    ended.catch(() => {});
    waiting.abort();
  }
}
