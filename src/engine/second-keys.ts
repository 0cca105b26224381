/** Warns of a key that stands second under several first keys: the engine counts the key within each first key alone. */
import type { Limit } from "../../storage/storage.ts";
import type { Logger } from "../core/runtime.ts";

/** Beyond this number the key that was seen first is forgotten: there may be one for each webhook. */
const MAX_SEEN = 10_000;

/** The second keys of tasks that this process has done. */
export class SecondKeys {
  readonly #log: Logger;
  /** By second key: the first keys, of which two are enough. */
  readonly #firsts = new Map<string, readonly string[]>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Takes notice of the limits of a task, and warns once of a second key that is found under a second first key. */
  see([first, second]: readonly Limit[]): void {
    if (first === undefined || second === undefined) return;
    const firsts = this.#firsts.get(second.key) ?? [];
    if (firsts.length > 1 || firsts.includes(first.key)) return;
    this.#firsts.set(second.key, [...firsts, first.key]);
    if (firsts.length > 0) this.#warn(second.key);
    const [oldest] = this.#firsts.keys();
    if (oldest !== undefined && this.#firsts.size > MAX_SEEN) this.#firsts.delete(oldest);
  }

  /** Warns where a key whose number is changed would be taken for one over all. */
  warnOfChange(key: string): void {
    if ((this.#firsts.get(key)?.length ?? 0) > 1) this.#warn(key);
  }

  #warn(limit: string): void {
    const within = (this.#firsts.get(limit) ?? []).map((first) => `within ${first}`).join(" and ");
    this.#log.warn(
      { limit },
      `the limit ${limit} stands second, ${within}, and is counted within each of them alone: ` +
        "a key that is to hold over all stands first",
    );
  }
}
