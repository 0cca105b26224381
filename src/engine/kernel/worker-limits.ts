/** How much a worker takes at once, and how often it looks. */
export interface WorkerLimits {
  /** Effects and promises without limits in hand at once; as many timers and messages have places of their own. */
  readonly slots: number;
  /** Effects and promises with limits in hand at once. */
  readonly limitedSlots: number;
  /** The pause between looks for tasks that other processes made due, in milliseconds. */
  readonly pollMs: number;
  /** A task against which so many deaths of its processes are counted is a dead letter. */
  readonly maxCrashes: number;
}
