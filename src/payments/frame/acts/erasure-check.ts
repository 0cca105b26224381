/** What a module says of a transaction whose personal data is to be erased. */
export interface ErasureCheck {
  /** Instances of the transaction besides its own. */
  readonly instances: readonly string[];
  /** Why nothing of it may be erased yet, whatever its age; null for no reason. */
  readonly refusal: string | null;
  readonly leastAgeMs: number;
  /** Why it has to be as old. */
  readonly young: string;
}
