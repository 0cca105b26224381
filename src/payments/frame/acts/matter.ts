/** Matters: facts that need a person. Types of a matter, and of the sources that find matters. */
import type { ResolveCommand } from "./command.ts";

/** The reason why a person is needed. */
export type MatterKind =
  /** An order is held: nobody is paid and nothing goes back until a person has decided. */
  | "held"
  /** The sums of an order do not close: money has left its address that nobody here has sent. */
  | "missing"
  /** The sponsor's account of a token cannot take what rests cost. */
  | "purse_frozen"
  /** The go of an order has not paid its fee. */
  | "fee_left_out"
  /** Recipients were paid by another copy after the order had ended here. */
  | "paid_after_end"
  /** The transfer costs more than its reserve, or rent has more than doubled. */
  | "waiting_for_funds"
  /** The refund bears its cost in tokens, and no price is known. */
  | "waiting_for_price"
  /** The chain does not show what became of a transaction. */
  | "unprovable"
  /** A task was set aside because each process that took it ended without giving it back, or because it failed for good. */
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
  /** The chain shows at an order's address what nobody here can explain, foreign tokens among it. */
  | "unexplained"
  /** Something is watched, and for too long nothing was read about it. */
  | "stuck_watch"
  /** A transfer of an order has not landed for an hour, or has failed three times. */
  | "stuck_payment"
  /** An endpoint has refused every read for minutes because it is asked too often. */
  | "rate_limited"
  /** A signer, a price source or the screening does not answer, and what needs it waits. */
  | "silent_part"
  /** A webhook did not take notices, and they are no longer sent. */
  | "abandoned_webhook";

/** An action on a matter; see `Operator.resolve`. */
export type MatterAction = ResolveCommand["action"];

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
  /** The fact in which `drop` notes the time: the matter is of what had come by then, and what comes later is a new one. */
  readonly dropFact?: string;
  /** The time that `drop` notes there; default the present one. */
  readonly dropUpTo?: number;
  /**
   * Set when only this process can see the matter. The process reports the matter again at each look, and other
   * processes list it from the storage as long as the reports go on.
   */
  readonly isSighting?: true;
}

/** A matter, as it is listed. */
export interface Matter extends Omit<FoundMatter, "since" | "isSighting" | "dropFact" | "dropUpTo"> {
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

/** The key in a matter's id, behind the kind, such as an order or a task. */
export function matterKey({ id, kind }: Pick<FoundMatter, "id" | "kind">): string {
  return id.slice(kind.length + 1);
}

/** The beginning of ids for tokens that do not count in their account: their source shares its kind with what was noted. */
const TOKENS = matterId("unexplained", "tokens@");

export function uncountedTokensId(order: string): string {
  return `${TOKENS}${order}`;
}

/**
 * The source of a matter: its kind, but for tokens that do not count. Strangers can send tokens to any number of addresses; what
 * is left out of those says nothing about others of the kind.
 */
export function sourceOfMatter({ id, kind }: { readonly id: string; readonly kind: string }): string {
  return id.startsWith(TOKENS) ? TOKENS : kind;
}
