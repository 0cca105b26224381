/** The verdict of a module on a transaction whose personal data is to be erased. */
export interface ErasureCheck {
  /** Instances of the transaction besides its own. */
  readonly instances: readonly string[];
  /** The reason that keeps the transaction from being erased yet, at any age; null without one. */
  readonly refusal: string | null;
  readonly leastAgeMs: number;
  /** Why it has to be as old. */
  readonly young: string;
}
