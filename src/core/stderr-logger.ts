/** Log lines for a person at a terminal, on stderr, so that stdout stays free for answers. */
import { inspect } from "node:util";
import type { Logger } from "./runtime.ts";

/** Writes warnings and errors; with `debug` everything, stacks included. */
export function stderrLogger(debug: boolean): Logger {
  const write =
    (level: string) =>
    (fields: object, message: string): void => {
      process.stderr.write(`${level} ${message} ${JSON.stringify(fields, readable(debug))}\n`);
    };
  const silent = (): void => {};
  return {
    debug: debug ? write("debug") : silent,
    info: debug ? write("info") : silent,
    warn: write("warn"),
    error: write("error"),
  };
}

/** Cause and message of an error in one line, without the stack. */
function withCauses({ message, cause }: Error): string {
  return cause instanceof Error ? `${message}: ${withCauses(cause)}` : message;
}

function readable(debug: boolean): (key: string, value: unknown) => unknown {
  return (_key, value) => {
    if (value instanceof Error) return debug ? inspect(value) : withCauses(value);
    return typeof value === "bigint" ? value.toString() : value;
  };
}
