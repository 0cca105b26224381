/** After an outage of the storage the heartbeats come before the claims, which would take what living holders still do. */
export class OutageGuard {
  /** A shorter outage ends no lease; so long after an outage every living process has sent a heartbeat. */
  readonly #halfLeaseMs: number;
  /** The start of the outage: the first call without an answer; null while the storage answers. */
  #missedAt: number | null = null;
  /** The end of an outage that was long enough to end leases. */
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

  restMs(now: number): number {
    if (this.#overAt === null) return 0;
    const passed = now - this.#overAt;
    if (passed < this.#halfLeaseMs) return this.#halfLeaseMs - passed;
    this.#overAt = null;
    return 0;
  }
}
