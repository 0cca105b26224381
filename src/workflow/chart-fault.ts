/** Faults of charts that only a step shows. */

/** A chart has asked in a step for what cannot be durable. Nothing of the step is kept. */
export class ChartFault extends TypeError {
  override readonly name: string = "ChartFault";
  /** The chart, the instance and its state, where these are known. */
  readonly step: string | undefined;
  readonly #reason: string;

  constructor(reason: string, step?: string) {
    super(step === undefined ? reason : `${step}: ${reason}`);
    this.step = step;
    this.#reason = reason;
  }

  /** The fault with this step, unless the step is known already. */
  in(step: string): ChartFault {
    return this.step === undefined ? new ChartFault(this.#reason, step) : this;
  }

  /** Whether the other is this fault, with the step or without. */
  isSame(other: unknown): boolean {
    return other instanceof ChartFault && other.#reason === this.#reason;
  }
}

/** Runs `act`; a fault is given the step that has it. */
export function withStep<A>(step: () => string, act: () => A): A {
  try {
    return act();
  } catch (error) {
    throw error instanceof ChartFault ? error.in(step()) : error;
  }
}
