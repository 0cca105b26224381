/**
 * Reads thrown values safely. Any value may be thrown: a proxy, an object without a prototype, an error whose message
 * throws when it is read.
 */
import { inspect, types } from "node:util";

/** The message of an error, or what else was thrown, as a text. Never throws. */
export function thrownText(thrown: unknown): string {
  try {
    return String(!types.isProxy(thrown) && thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return unreadableText(thrown);
  }
}

/** The thrown value, or an error in place of a proxy, whose traps may throw at any access. */
export function withoutTraps(thrown: unknown): unknown {
  return types.isProxy(thrown) ? new Error(thrownText(thrown)) : thrown;
}

function unreadableText(thrown: unknown): string {
  try {
    return inspect(thrown, { depth: 1, customInspect: false, compact: true, breakLength: Infinity });
  } catch {
    return "something that cannot be read";
  }
}
