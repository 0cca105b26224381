/** The model's chain: markers, the money of one deposit address, and transactions that land whole or not at all. */

/** One instruction, or a few that always stand together. */
export type Step =
  /** Makes a marker. Fails when it is made already. */
  | { readonly does: "make"; readonly marker: string }
  /** Sets the delegate of a marker. Fails unless the marker is made. */
  | { readonly does: "approve"; readonly marker: string; readonly delegate: string }
  /** Clears the delegate of a marker. Fails unless the marker is made: this is how a payment follows its plan. */
  | { readonly does: "revoke"; readonly marker: string }
  /** Pays a payee. */
  | { readonly does: "pay"; readonly payee: number; readonly amount: number }
  /** Returns to the sender what these payees were to get. */
  | { readonly does: "refund"; readonly payees: readonly number[]; readonly amount: number }
  /** Returns to the sender what was meant for no payee. */
  | { readonly does: "return excess"; readonly amount: number }
  /** Moves the service's fee to its treasury. */
  | { readonly does: "take fee"; readonly amount: number }
  /** Closes a marker. Fails unless it is made. */
  | { readonly does: "close"; readonly marker: string };

/** A transaction that the deposit key has signed. The same message may be signed and may land again. */
export interface Message {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** What the chain says at one moment. Amounts are in whole units. */
export interface Chain {
  /** Each marker that is made, with its delegate, or null. */
  readonly markers: Readonly<Record<string, string | null>>;
  /** Markers that were closed: what a complete history of the address would show. */
  readonly closed: readonly string[];
  readonly deposited: number;
  readonly balance: number;
  /** How often each payee was paid. */
  readonly paid: readonly number[];
  /** How often the amount of each payee was returned to the sender. */
  readonly refunded: readonly number[];
  readonly excess: number;
  readonly fee: number;
}

/** A chain on which nothing has happened yet. */
export function emptyChain(payees: number): Chain {
  const none: readonly number[] = Array.from({ length: payees }, () => 0);
  return {
    markers: {},
    closed: [],
    deposited: 0,
    balance: 0,
    paid: none,
    refunded: none,
    excess: 0,
    fee: 0,
  };
}

/** The chain after a deposit. */
export function deposit(chain: Chain, amount: number): Chain {
  return { ...chain, deposited: chain.deposited + amount, balance: chain.balance + amount };
}

/** The chain after the message has landed, or null when the chain refuses it. */
export function land(chain: Chain, message: Message): Chain | null {
  let after: Chain | null = chain;
  for (const step of message.steps) {
    after = execute(after, step);
    if (after === null) return null;
  }
  return after;
}

/** The step at which the chain refuses the message, or null when it lands. */
export function refusedStep(chain: Chain, message: Message): number | null {
  let after = chain;
  for (const [index, step] of message.steps.entries()) {
    const next = execute(after, step);
    if (next === null) return index;
    after = next;
  }
  return null;
}

function execute(chain: Chain, step: Step): Chain | null {
  switch (step.does) {
    case "make":
      return isMade(chain, step.marker) ? null : withMarker(chain, step.marker, null);
    case "approve":
      return isMade(chain, step.marker) ? withMarker(chain, step.marker, step.delegate) : null;
    case "revoke":
      return isMade(chain, step.marker) ? withMarker(chain, step.marker, null) : null;
    case "close":
      return isMade(chain, step.marker) ? withoutMarker(chain, step.marker) : null;
    default:
      return move(chain, step);
  }
}

function move(chain: Chain, step: Extract<Step, { readonly amount: number }>): Chain | null {
  if (step.amount > chain.balance) return null;
  const after = { ...chain, balance: chain.balance - step.amount };
  switch (step.does) {
    case "pay":
      return { ...after, paid: oneMore(chain.paid, [step.payee]) };
    case "refund":
      return { ...after, refunded: oneMore(chain.refunded, step.payees) };
    case "return excess":
      return { ...after, excess: chain.excess + step.amount };
    case "take fee":
      return { ...after, fee: chain.fee + step.amount };
  }
}

/** Whether a marker stands at that address. */
export function isMade(chain: Chain, marker: string): boolean {
  return Object.hasOwn(chain.markers, marker);
}

function withMarker(chain: Chain, marker: string, delegate: string | null): Chain {
  return { ...chain, markers: { ...chain.markers, [marker]: delegate } };
}

function withoutMarker(chain: Chain, marker: string): Chain {
  const others = Object.entries(chain.markers).filter(([name]) => name !== marker);
  return { ...chain, markers: Object.fromEntries(others), closed: [...chain.closed, marker].toSorted() };
}

function oneMore(counts: readonly number[], indices: readonly number[]): readonly number[] {
  return counts.map((count, index) => (indices.includes(index) ? count + 1 : count));
}

const keys = new WeakMap<Chain, string>();

/** Two chains with the same key are the same. */
export function chainKey(chain: Chain): string {
  const known = keys.get(chain);
  if (known !== undefined) return known;
  const markers = Object.entries(chain.markers).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const key = JSON.stringify({ ...chain, markers });
  keys.set(chain, key);
  return key;
}
