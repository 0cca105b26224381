/** How often, and for how long, what did not succeed is tried again. */
import pRetry, { type Options } from "p-retry";
import { isAway, isLost, isRace, lost } from "./explain.ts";

/** For a server that is away, and may be back soon. */
export const SOON = { retries: Infinity, factor: 1.5, minTimeout: 20, maxTimeout: 500, randomize: true };

/** Two transactions that met are tried again soon. */
const RACES = { retries: 8, factor: 2, minTimeout: 2, maxTimeout: 100, randomize: true };

/** Tries at once, and again as long as the error is one of these. */
export async function persistent<A>(
  act: () => Promise<A>,
  pace: Options,
  isAgain: (error: unknown) => boolean,
): Promise<A> {
  try {
    return await act();
  } catch (error) {
    if (!isAgain(error)) throw error;
  }
  return pRetry(act, { ...pace, shouldRetry: ({ error }) => isAgain(error) });
}

/** Tries again what the server took back because of another transaction. Rejects as the driver does. */
export const raced = <A>(act: () => Promise<A>): Promise<A> => persistent(act, RACES, isRace);

/** The server is asked again for so long after a connection was lost: about what a restart takes. */
const AGAIN = { ...SOON, maxRetryTime: 10_000 };

/** Tries again what may be done twice, while the server is away or another transaction is in the way. */
export const again = <A>(act: () => Promise<A>): Promise<A> =>
  persistent(
    () => raced(act),
    AGAIN,
    (error) => isLost(error) || isAway(error),
  ).catch((error: unknown) => {
    throw lost(error);
  });
