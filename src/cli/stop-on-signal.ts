/** Ctrl-C and SIGTERM: a clean end, and a way to insist. */

// Started through npm, one Ctrl-C arrives several times: from the terminal, and passed on by each process in between.
const SAME_KEYPRESS_MS = 1_000;

/** Runs `stop` once and exits with 0. Another signal a while later ends the process at once, which is safe at any line. */
export function stopOnSignal(stop: () => Promise<void>): void {
  let stoppingSince: number | undefined;
  const onSignal = (): void => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > SAME_KEYPRESS_MS) process.exit(130);
      return;
    }
    stoppingSince = performance.now();
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`paystate: could not stop cleanly: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
}

/** Resolves once it is open, and closes it when a signal comes, also one that comes before. */
export async function openUntilSignal(opening: Promise<() => Promise<void>>): Promise<void> {
  stopOnSignal(async () => (await opening)());
  await opening;
}
