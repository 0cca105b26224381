/** One after another, by key: whoever would only get in the other's way waits for its turn. */

/** Does `act` once everything asked for before it under the same key has ended, however it ended. */
export type InTurn = <T>(key: string, act: () => Promise<T>) => Promise<T>;

/** A set of queues, one per key, that takes no room for keys nobody waits at. */
export function createTurns(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return (key, act) => {
    const before = last.get(key);
    const turn = before === undefined ? act() : before.then(act, act);
    last.set(key, turn);
    const leave = (): void => {
      if (last.get(key) === turn) last.delete(key);
    };
    turn.then(leave, leave);
    return turn;
  };
}
