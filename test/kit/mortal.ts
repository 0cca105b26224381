/** Processes that die on purpose: at one chosen call to the outside, before it is made or after it was carried out. */
import type { Clock } from "../../src/core/runtime.ts";

/** A process dies at its call number `call`, counted from 1 over everything outside together. */
export interface DeathAtCall {
  readonly call: number;
  readonly moment: "before" | "after";
}

/** When a process dies: at that call of all, or at its `nth` call of one method. */
export type Death =
  DeathAtCall | { readonly method: string; readonly nth: number; readonly moment: "before" | "after" };

/** A process whose calls to the outside are counted, and end at its death. */
export interface MortalProcess {
  /** The same object, as this process sees it: once dead, nothing it calls happens and nothing answers. */
  readonly within: <T extends object>(outside: T) => T;
  /** The same clock, as this process sees it: time wakes no dead. Looking at a clock is not counted. */
  readonly timedBy: (clock: Clock) => Clock;
  /** Counts something that is begun by a yes, such as a connection; false when it must not begin any more. */
  readonly may: (method: string) => boolean;
  /** An answer that this process waits for: after its death it never comes. */
  readonly awaits: <T>(answer: Promise<T>) => Promise<T>;
  /** Ends it now, whatever it is doing. */
  readonly kill: () => void;
  /** At its next call of this method it stands still, with all that it remembers; resolves once it does. */
  readonly standStillAt: (method: string) => Promise<void>;
  /** It goes on with the call that it was at, and stands still no more. */
  readonly goOn: () => void;
  /** Resolves at the moment of death; never, for a process that lives to the end. */
  readonly died: Promise<void>;
  readonly isDead: () => boolean;
  /** The calls made so far, as `method` names. */
  readonly calls: readonly string[];
}

// What answers at once asks nobody: a pure function, or a listener being registered.
const ASKS_NOBODY: ReadonlySet<string | symbol> = new Set([
  "isOnCurve",
  "mostRecipients",
  "markerOf",
  "tokenAccountOf",
  "onWake",
]);

/** A process that dies as told; without a death it lives, and only counts, until it is killed. */
export function mortalProcess(death?: Death): MortalProcess {
  const calls: string[] = [];
  let dead = false;
  let announce: () => void = () => undefined;
  const died = new Promise<void>((resolve) => {
    announce = resolve;
  });
  const silence = new Promise<never>(() => undefined);
  const kill = (): void => {
    dead = true;
    announce();
  };
  const die = (): Promise<never> => {
    kill();
    return silence;
  };
  /** Whether the process dies at this call, which is hereby counted. */
  const count = (method: string): Death["moment"] | null => {
    calls.push(method);
    if (death === undefined) return null;
    const isIt =
      "call" in death
        ? death.call === calls.length
        : death.method === method && death.nth === calls.filter((made) => made === method).length;
    return isIt ? death.moment : null;
  };
  const awaits = <T>(answer: Promise<T>): Promise<T> =>
    answer.then(
      (result) => (dead ? silence : result),
      (error: unknown) => (dead ? silence : Promise.reject(error as Error)),
    );

  let stop: { readonly method: string; readonly announce: () => void } | null = null;
  let still: { readonly over: Promise<void>; readonly end: () => void } | null = null;
  const standStill = (): void => {
    let end: () => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    still = { over, end };
    stop?.announce();
    stop = null;
  };

  const within = <T extends object>(outside: T): T => {
    const inside: T = new Proxy(outside, {
      get(target, property, receiver) {
        const value: unknown = Reflect.get(target, property, receiver);
        if (typeof value !== "function") return value;
        return (...args: unknown[]): unknown => {
          if (dead) return silence;
          if (ASKS_NOBODY.has(property)) return Reflect.apply(value, target, args);
          if (stop?.method === property) standStill();
          if (still !== null) {
            return still.over.then(
              () => Reflect.apply(Reflect.get(inside, property) as typeof value, inside, args) as unknown,
            );
          }
          const moment = count(String(property));
          if (moment === "before") return die();
          const answer = Reflect.apply(value, target, args) as Promise<unknown>;
          return moment === "after" ? answer.then(die, die) : awaits(answer);
        };
      },
    });
    return inside;
  };

  return {
    within,
    timedBy: (clock) => ({
      now: () => clock.now(),
      sleep: (ms, signal) => (dead ? silence : awaits(clock.sleep(ms, signal))),
    }),
    may(method) {
      if (dead) return false;
      const moment = count(method);
      if (moment !== null) kill();
      return moment !== "before";
    },
    awaits,
    kill,
    standStillAt: (method) =>
      new Promise((resolve) => {
        stop = { method, announce: resolve };
      }),
    goOn() {
      stop = null;
      still?.end();
      still = null;
    },
    died,
    isDead: () => dead,
    calls,
  };
}
