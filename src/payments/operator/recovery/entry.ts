/** The entry of a private order in the recovery journal, outside of the database. */

/** An entry that restores a deposit address, together with the master secret. The entry itself is no secret. */
export interface RecoveryEntry {
  /** The transaction's id. */
  readonly id: string;
  /** The version of the master secret that the address is derived from. */
  readonly masterVersion: number;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
}

/**
 * Keeps an entry where the database's loss does not reach it, and resolves once it is durable. It is awaited before a
 * deposit address is handed out; where it rejects, or takes longer than ten seconds, the order is refused with
 * `ROUTING_UNAVAILABLE` upstream and nothing of it is kept. An entry may be of an order that was not taken after all.
 */
export type RecoveryJournal = (entry: RecoveryEntry) => Promise<void>;
