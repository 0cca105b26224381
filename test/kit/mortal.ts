/** Processes that die on purpose: at one chosen call to the outside, before it is made or after it was carried out. */

/** When a process dies: at its call number `call`, counted from 1 over storage and ledger together. */
export interface Death {
  readonly call: number;
  readonly moment: "before" | "after";
}

/** A process whose calls to the outside are counted, and end at its death. */
export interface MortalProcess {
  /** The same object, as this process sees it: once dead, nothing it calls happens and nothing answers. */
  readonly within: <T extends object>(outside: T) => T;
  /** Resolves at the moment of death; never, for a process that lives to the end. */
  readonly died: Promise<void>;
  readonly isDead: () => boolean;
  /** The calls made so far, as `method` names. */
  readonly calls: readonly string[];
}

/** A process that dies as told; without a death it lives and only counts. */
export function mortalProcess(death?: Death): MortalProcess {
  const calls: string[] = [];
  let dead = false;
  let announce: () => void = () => undefined;
  const died = new Promise<void>((resolve) => {
    announce = resolve;
  });
  const silence = new Promise<never>(() => undefined);
  const die = (): Promise<never> => {
    dead = true;
    announce();
    return silence;
  };

  const within = <T extends object>(outside: T): T =>
    new Proxy(outside, {
      get(target, property, receiver) {
        const value: unknown = Reflect.get(target, property, receiver);
        if (typeof value !== "function") return value;
        return (...args: unknown[]): unknown => {
          if (dead) return silence;
          // What answers at once asks nobody: a pure function, or a listener being registered.
          if (property === "isOnCurve" || property === "onWake") return Reflect.apply(value, target, args);
          calls.push(String(property));
          const dying = death?.call === calls.length;
          if (dying && death.moment === "before") return die();
          const answer = Reflect.apply(value, target, args) as Promise<unknown>;
          if (dying) return answer.then(die, die);
          // An answer that arrives after the death reaches nobody.
          return answer.then(
            (result) => (dead ? silence : result),
            (error: unknown) => (dead ? silence : Promise.reject(error as Error)),
          );
        };
      },
    });

  return { within, died, isDead: () => dead, calls };
}
