/** A host's logger that keeps what it was told, and everything that could be read out of it. */
import { inspect } from "node:util";
import type { Logger } from "../../src/core/runtime.ts";

/** One line of a log. */
export interface Line {
  readonly level: keyof Logger;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

/** A host's logger that keeps what it was told. */
export function recorder(): { logger: Logger; lines: Line[] } {
  const lines: Line[] = [];
  const keep =
    (level: keyof Logger) =>
    (fields: object, message: string): void =>
      void lines.push({ level, fields: fields as Record<string, unknown>, message });
  return {
    lines,
    logger: { debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") },
  };
}

/** Everything any logger could write of a line: own properties, hidden ones, causes, stacks, keys. */
export function everythingIn(value: unknown, seen = new Set<unknown>()): string {
  if (typeof value !== "object" || value === null) return String(value);
  if (seen.has(value)) return "";
  seen.add(value);
  const own = Reflect.ownKeys(value).map((key) => {
    const each = (value as Record<PropertyKey, unknown>)[key];
    return key === "constructor" ? "" : `${String(key)}=${everythingIn(each, seen)}`;
  });
  return `${own.join(" ")} ${inspect(value, { depth: Infinity, showHidden: true, maxStringLength: Infinity })}`;
}
