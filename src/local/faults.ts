/** Faults that a test asks for: what can go wrong between a client and a node, produced at will. */

/**
 * A call as the client made it. A websocket asks about two more things in the same way: its opening (method `connect`,
 * no parameters) and each notification (its method, e.g. `slotNotification`, and its result as the only parameter).
 */
export interface RpcRequest {
  readonly transport: "http" | "websocket";
  readonly method: string;
  readonly params: readonly unknown[];
}

/**
 * A fault of one call. Over a websocket, where there is no HTTP status, `refuse` and `lose-answer` end the connection.
 * A notification knows `drop` and `hang` only, which lose it; the opening of a websocket knows `refuse` only.
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
