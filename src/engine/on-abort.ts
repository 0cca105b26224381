/** Tells of the end of a signal by one listener for each: Node warns of a leak where more than ten listen to one. */

interface Listening {
  readonly acts: Set<() => void>;
  readonly stop: () => void;
}

const listening = new WeakMap<AbortSignal, Listening>();

/**
 * Calls `act` when the signal aborts, until the returned function is called. Nothing is left behind on the signal, which
 * may last as long as its process: `AbortSignal.any` leaves something for each call on Node 20 and 22.
 */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal === undefined) return () => {};
  // The same function may be given twice.
  const each = (): void => act();
  const { acts, stop } = listening.get(signal) ?? listenTo(signal);
  acts.add(each);
  return () => {
    acts.delete(each);
    if (acts.size === 0) stop();
  };
}

function listenTo(signal: AbortSignal): Listening {
  const acts = new Set<() => void>();
  const tell = (): void => acts.forEach((act) => act());
  const stop = (): void => {
    signal.removeEventListener("abort", tell);
    listening.delete(signal);
  };
  signal.addEventListener("abort", tell, { once: true });
  const begun = { acts, stop };
  listening.set(signal, begun);
  return begun;
}
