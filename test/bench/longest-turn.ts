/** For how long the event loop stands still. */

/** What an act answered, and its longest turns: by the clock, and by what was computed, which leaves out the disk and other tasks of the machine. */
interface Turned<T> {
  readonly result: T;
  readonly ms: number;
  /** Of all threads of the process, the collection of garbage included. */
  readonly cpuMs: number;
}

/** Looks at each turn of the event loop while `act` goes on. */
export async function longestTurn<T>(act: () => Promise<T>): Promise<Turned<T>> {
  const longest = { ms: 0, cpuMs: 0 };
  let goesOn = true;
  const looking = (async () => {
    for (let [since, cpu] = [performance.now(), process.cpuUsage()]; goesOn;) {
      await new Promise((resolve) => setImmediate(resolve));
      const { user, system } = process.cpuUsage(cpu);
      longest.ms = Math.max(longest.ms, performance.now() - since);
      longest.cpuMs = Math.max(longest.cpuMs, (user + system) / 1_000);
      [since, cpu] = [performance.now(), process.cpuUsage()];
    }
  })();
  const result = await act();
  goesOn = false;
  await looking;
  return { result, ...longest };
}
