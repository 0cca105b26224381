/** What a break is: one property of the money code or the engine, and the change of one text that takes it away. */

/** A property that tests must guard, and how to take it away on purpose. */
export interface Break {
  /** What no longer holds once the text is replaced. */
  readonly property: string;
  /** From the project's root. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly text: string;
  readonly replacement: string;
  /** The test files to run first, from `test/`: those nearest to the property. */
  readonly tests: readonly string[];
}
