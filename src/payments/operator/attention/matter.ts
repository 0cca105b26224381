/** Matters: facts that need a person. Types of a matter, and of the sources that find matters. */

/** The reason why a person is needed. */
export type MatterKind =
  /** A deposit address is held: nothing is signed for it. */
  | "held"
  /** The chain does not show what became of a transaction. */
  | "unprovable"
  /** A task was set aside because each process that took it ended without giving it back. */
  | "dead_letter"
  /** A task has failed many times in a row and is still tried. */
  | "failing_task"
  /** Tasks are due, and no running process knows their workflow. */
  | "orphan"
  /** A wallet of the service will soon be empty. */
  | "low_purse"
  /** Fewer endpoints than configured decide final facts, as an operator has set for a time. */
  | "lowered_witnesses"
  /** An operator has taken an endpoint out of service for a time. */
  | "suspended_endpoint"
  /** Endpoints tell a fact differently, and what depends on it waits. */
  | "disputed"
  /** Money has moved that the database cannot explain. */
  | "unexplained"
  /** Something is watched, and for too long nothing was read about it. */
  | "stuck_watch"
  /** Attempts of a payment are taken by endpoints, and none of them lands. */
  | "stuck_payment"
  /** Nearly as many deposits are waited for as the endpoints permit to be looked at in time. */
  | "crowded_watch"
  /** An endpoint has refused every read for minutes because it is asked too often. */
  | "rate_limited"
  /** A signer, a price source or the screening does not answer, and what needs it waits. */
  | "silent_part"
  /** A webhook did not take notices, and they are no longer sent. */
  | "abandoned_webhook";

/** An action on a matter; see `Operator.resolve`. */
export type MatterAction = "retry" | "refundTo" | "writeOff" | "settle" | "release" | "drop";

/** A matter, as its source finds it. */
export interface FoundMatter {
  readonly kind: MatterKind;
  /** Unique among all matters, and stable: the kind, a colon, and a key that the source chooses. */
  readonly id: string;
  readonly transactionId?: string;
  readonly accountId?: string;
  /** Milliseconds since the Unix epoch; null when the source has no date, and the first look counts. */
  readonly since: number | null;
  /** A sentence for the operator: what is wrong, and what to do. Holds no secret. */
  readonly message: string;
  /** The actions that `resolve` accepts for the matter, the usual action first. May be empty. */
  readonly actions: readonly MatterAction[];
  /**
   * Set when only this process can see the matter. The process reports the matter again at each look, and other
   * processes list it from the storage as long as the reports go on.
   */
  readonly isSighting?: true;
}

/** A matter, as it is listed. */
export interface Matter extends Omit<FoundMatter, "since" | "isSighting"> {
  /** ISO 8601 in UTC. */
  readonly since: string;
}

/**
 * Finds the matters of one kind or a few, oldest first, at most `limit` of them. Reads what is stored, asks a node
 * once a minute at most, and changes nothing: it is called every half minute, and with each question for the service's
 * health. Rejects only when the storage does.
 */
export type AttentionSource = (limit: number) => Promise<readonly FoundMatter[]>;

export function matterId(kind: MatterKind, key: string): string {
  return `${kind}:${key}`;
}

/** The key in a matter's id, behind the kind, such as a deposit address or a task. */
export function matterKey({ id, kind }: Pick<FoundMatter, "id" | "kind">): string {
  return id.slice(kind.length + 1);
}
