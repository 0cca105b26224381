/** How long work keeps the event loop from turning. */

/**
 * The longest time between two turns of the event loop while `work` is done, in milliseconds: on the wall, or of this
 * process's processor time where that is less, because a pause in which another process ran is not ours.
 */
export async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let wall = performance.now();
  let used = process.cpuUsage();
  let done = false;
  const turn = (): void => {
    const { user, system } = process.cpuUsage(used);
    longest = Math.max(longest, Math.min(performance.now() - wall, (user + system) / 1_000));
    wall = performance.now();
    used = process.cpuUsage();
    if (!done) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  await new Promise((resolve) => setImmediate(resolve));
  done = true;
  return longest;
}
