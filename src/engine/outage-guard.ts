/** After an outage of the storage the heartbeats come before the claims, which would take what living holders still do. */
export class OutageGuard {
  /** A shorter outage ends no lease, since a heartbeat was at most a third before it; as long after it all have sent one. */
  readonly #halfLeaseMs: number;
  /** When the storage first did not answer; null while it does. */
  #missedAt: number | null = null;
  /** When the outage was over, if it was long enough to end leases. */
  #overAt: number | null = null;

  constructor(leaseMs: number) {
    this.#halfLeaseMs = leaseMs / 2;
  }

  get isOut(): boolean {
    return this.#missedAt !== null;
  }

  missed(now: number): void {
    this.#missedAt ??= now;
  }

  answered(now: number): void {
    if (this.#missedAt !== null && now - this.#missedAt >= this.#halfLeaseMs) this.#overAt = now;
    this.#missedAt = null;
  }

  /** How long claims have to wait still. */
  restMs(now: number): number {
    if (this.#overAt === null) return 0;
    const passed = now - this.#overAt;
    if (passed < this.#halfLeaseMs) return this.#halfLeaseMs - passed;
    this.#overAt = null;
    return 0;
  }
}
