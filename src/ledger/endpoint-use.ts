/** What processes tell each other of the endpoints that they ask, so that together they keep to a provider's limits. */

/**
 * How one process has used its endpoints since its last report. The key of an endpoint is the same in each process, and
 * holds no secret.
 */
export interface EndpointUse {
  /** Calls by the endpoint's key, of endpoints whose rate is limited. */
  readonly calls: Readonly<Record<string, number>>;
  /** Milliseconds of rest that an endpoint has asked this process for, from now on, by the endpoint's key. */
  readonly rests: Readonly<Record<string, number>>;
}

/** How another process has used them. */
export interface OthersUse extends EndpointUse {
  /** Names the process, as long as it runs. */
  readonly process: string;
  /** When it told so, Unix milliseconds by this process's clock. */
  readonly at: number;
}

/**
 * Tells the other processes how this one has used its endpoints, and answers what they have told since the last time.
 * Rejects where the others cannot be reached: then each process keeps to the limits as far as it knows.
 */
export type ExchangeUse = (own: EndpointUse) => Promise<readonly OthersUse[]>;
