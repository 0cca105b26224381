/** Faults that a test asks for: what can go wrong between a client and a node, produced at will. */

/**
 * A call as the client made it. On a websocket two more things can go wrong and are asked about in the same way: its
 * opening (method `connect`, no parameters) and every notification (its method, e.g. `accountNotification`, and its
 * result as the only parameter; `pong` for the answer to a ping).
 */
export interface RpcRequest {
  readonly transport: "http" | "websocket";
  readonly method: string;
  readonly params: readonly unknown[];
}

/**
 * A fault of one call. Over a websocket, where there is no HTTP status, `refuse` and `lose-answer` end the connection.
 * A notification is lost by `drop` and `hang`, late by `delay`, untrue by `lie`, and ends the connection by `refuse`
 * and `lose-answer`. The opening of a websocket knows `refuse` only.
 */
export type Fault =
  /** `sendTransaction` answers the signature, but the transaction is never executed. */
  | { readonly kind: "drop" }
  /** The node refuses with this HTTP status before it looks at the call. */
  | { readonly kind: "refuse"; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** The node does what it was asked, but the answer is lost and this HTTP status comes instead. */
  | { readonly kind: "lose-answer"; readonly status: number }
  /** The node answers with this JSON-RPC error instead. */
  | { readonly kind: "error"; readonly code: number; readonly message: string; readonly data?: unknown }
  /** The call is handled after so many milliseconds of the chain's clock, which needs `sleep` for it. */
  | { readonly kind: "delay"; readonly ms: number }
  /** No answer ever comes; the call ends when the client gives up or the chain is closed. */
  | { readonly kind: "hang" }
  /** The node knows the chain only up to so many slots ago. */
  | { readonly kind: "lag"; readonly slots: number }
  /**
   * The node was restored from a snapshot of the slot before `firstSlot`: it has the accounts and the status cache, and
   * no block or transaction of an earlier slot.
   */
  | { readonly kind: "restored"; readonly firstSlot: number }
  /** The node answers something else than the truth: `answer` makes the lie out of the honest result. */
  | { readonly kind: "lie"; readonly answer: (honest: unknown) => unknown };

/** Decides for each call whether something goes wrong with it. */
export type FaultRule = (request: RpcRequest) => Fault | undefined;

/** The faults in force. */
export interface FaultControl {
  /** Puts a rule in force; the first rule that answers decides. Returns the function that lifts it. */
  add(rule: FaultRule): () => void;
  /** Lifts all rules. */
  clear(): void;
}

/** The rules of one chain. */
export class FaultRules implements FaultControl {
  readonly #rules = new Set<FaultRule>();

  add(rule: FaultRule): () => void {
    this.#rules.add(rule);
    return () => void this.#rules.delete(rule);
  }

  clear(): void {
    this.#rules.clear();
  }

  /** The fault of this call, if any. */
  decide(request: RpcRequest): Fault | undefined {
    for (const rule of this.#rules) {
      const fault = rule(request);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
}

/**
 * The rule of a dead network behind an open socket: websockets open, stay open and say nothing.
 *
 * @example
 * ```ts
 * import { systemClock } from "paystate/engine";
 * import { createLocalChain, DEAD_WEBSOCKETS } from "paystate/local";
 *
 * const chain = await createLocalChain({ clock: systemClock });
 * const revive = chain.faults.add(DEAD_WEBSOCKETS);
 * // … what does your client do while no notification comes?
 * revive();
 * await chain.close();
 * ```
 */
export const DEAD_WEBSOCKETS: FaultRule = ({ transport }) =>
  transport === "websocket" ? { kind: "hang" } : undefined;

/**
 * The lie of a node whose status index has a hole: every signature it is asked about is unknown.
 *
 * @example
 * ```ts
 * import { systemClock } from "paystate/engine";
 * import { createLocalChain, NO_STATUSES } from "paystate/local";
 *
 * const chain = await createLocalChain({ clock: systemClock });
 * chain.faults.add(({ method }) => (method === "getSignatureStatuses" ? NO_STATUSES : undefined));
 * // … what does your client believe of its transaction now?
 * await chain.close();
 * ```
 */
export const NO_STATUSES: Fault = {
  kind: "lie",
  answer: (honest) => {
    const { context, value } = honest as { context: unknown; value: readonly unknown[] };
    return { context, value: value.map(() => null) };
  },
};
