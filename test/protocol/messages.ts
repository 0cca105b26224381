/** Everything that the protocol lets a copy of the database sign for one order: payments, plans and refunds. */
import type { Message, Step } from "./chain.ts";
import type { Rules } from "./rules.ts";

/** A stored order. Amounts are in whole units. */
export interface Order {
  readonly kind: "payout" | "swap";
  /** What each payee gets. */
  readonly amounts: readonly number[];
  /** What the service keeps of the deposit when somebody was paid. */
  readonly fee: number;
  /** Payees whose accounts refuse money: no transaction that pays them lands. */
  readonly unpayable: readonly number[];
}

/** One copy of the database, and how its software would cut this order up. */
export interface Copy {
  readonly name: string;
  readonly chunks: readonly (readonly number[])[];
  /** What it does with a chunk that fails: leave the payee out, or cut the chunk into halves. */
  readonly onFailure: "isolate" | "halve";
  /** What it withholds from a refund for the costs of the network, which another version may reckon otherwise. */
  readonly refundCost: number;
}

/** Where a refund of excess goes: the operator may choose another address where the sender's cannot take it. */
export type Home = "the sender" | "another address";

/** Who is paid what by one transaction. The amounts of payees never change, so their indices stand for them here. */
export interface Words {
  /** The marker that only a payment or a replacement of these words makes. */
  readonly marker: string;
  readonly payees: readonly number[];
}

/** What replaces words: all its leaves are named before the first of them is signed. */
export interface Plan {
  readonly marker: string;
  readonly leaves: readonly Words[];
  /** True for a refund that is paid by the very transaction that makes the plan. */
  readonly isRefund: boolean;
}

/** What a copy knows of an order, all of it computed and nothing of it read from the chain. */
export interface Book {
  /** The words that belong to no plan. */
  readonly roots: readonly Words[];
  /** By plan marker. */
  readonly plans: ReadonlyMap<string, Plan>;
  readonly messages: readonly Message[];
  /** Payments in other words, to be signed where a marker was found to be somebody else's. */
  readonly reworded: readonly Reworded[];
}

/** A payment in other words. */
export interface Reworded {
  readonly insteadOf: Words;
  readonly message: Message;
}

/** The delegate that a stranger's marker would have, if strangers could make or change one. */
export const STRANGER = "a stranger";

/** What this copy may sign for the order under these rules. */
export function writeBook(order: Order, rules: Rules, copy: Copy): Book {
  return new Writer(order, rules, copy).write();
}

/** A refund of what no payee is to get. */
export function excessRefund(rules: Rules, refund: Excess): Message {
  const { ordinal, amount, home } = refund;
  const marker = excessMarker(rules, refund);
  return {
    name: `refund ${String(amount)} to ${home} as excess ${String(ordinal)}`,
    steps: [
      { does: "make", marker },
      { does: "return excess", amount },
    ],
  };
}

/** The marker of a refund of excess. */
export function excessMarker(rules: Rules, { ordinal, amount, home }: Excess): string {
  const sum = rules.excessNamesNoAmount ? "" : ` of ${String(amount)}`;
  const address = rules.excessNamesNoRecipient ? "" : ` to ${home}`;
  return `excess ${String(ordinal)}${sum}${address}`;
}

/** One refund of excess. */
export interface Excess {
  readonly ordinal: number;
  readonly amount: number;
  readonly home: Home;
}

/** The order's own words. */
const ROOT = "order";

class Writer {
  private readonly order: Order;
  private readonly rules: Rules;
  private readonly copy: Copy;
  private readonly plans = new Map<string, Plan>();
  private readonly messages: Message[] = [];
  private readonly reworded: Reworded[] = [];

  constructor(order: Order, rules: Rules, copy: Copy) {
    this.order = order;
    this.rules = rules;
    this.copy = copy;
  }

  write(): Book {
    const root: Words = { marker: ROOT, payees: this.order.amounts.map((_, index) => index) };
    const chunks = this.copy.chunks.map(payout);
    const { plans, messages, reworded } = this;
    if (this.order.kind === "swap") this.swap(root);
    else if (chunks.length === 1) this.words(root, null);
    else if (this.rules.routingReplacesTheRoot) {
      this.refund(root, null);
      this.replacement(root, null, chunks);
    } else {
      this.refund(root, null);
      for (const chunk of chunks) this.words(chunk, null);
      return { roots: chunks, plans, messages, reworded };
    }
    return { roots: [root], plans, messages, reworded };
  }

  /** All that may become of words that one transaction can pay. */
  private words(words: Words, parent: Plan | null): void {
    this.sign(`pay ${words.marker}`, [
      ...this.follow(parent),
      ...this.mark(words.marker),
      ...this.pays(words),
    ]);
    this.refund(words, parent);
    if (!this.rules.wordsAreNeverRevoked) {
      this.sign(`revoke ${words.marker}`, [{ does: "revoke", marker: words.marker }]);
    }
    const other = `${words.marker} in other words`;
    this.reworded.push({
      insteadOf: words,
      message: {
        name: `pay ${other}`,
        steps: [...this.follow(parent), ...this.mark(other), ...this.pays(words)],
      },
    });
    for (const leaves of this.splits(words)) this.replacement(words, parent, leaves);
    if (!this.rules.plansChangeTheWords) this.replacement(words, parent, [words]);
  }

  /** The ways in which a chunk is paid of which one payee refused. */
  private splits({ payees }: Words): readonly (readonly Words[])[] {
    if (payees.length === 1) return [];
    const middle = Math.ceil(payees.length / 2);
    return this.copy.onFailure === "halve"
      ? [[payout(payees.slice(0, middle)), payout(payees.slice(middle))]]
      : payees.map((failed) => [payout(payees.filter((payee) => payee !== failed))]);
  }

  /** The two prices at which a swap may be signed. */
  private swap(root: Words): void {
    const amount = this.order.amounts[0] ?? 0;
    for (const price of [amount, amount + 1]) {
      const marker = this.rules.swapsNameNoAmount ? root.marker : `${root.marker} at ${String(price)}`;
      const pay = { does: "pay", payee: 0, amount: price } as const;
      this.sign(`swap at ${String(price)}`, [...this.mark(marker), pay]);
    }
    this.refund(root, null);
  }

  private replacement(words: Words, parent: Plan | null, leaves: readonly Words[]): void {
    const named = leaves.map(({ marker }) => marker).join(" | ");
    const plan: Plan = { marker: this.planMarker(words, named), leaves, isRefund: false };
    this.plans.set(plan.marker, plan);
    this.sign(`replace ${words.marker} by ${named}`, this.makePlan(words, parent, plan));
    if (!this.rules.plansAreFinal) this.undoPlan(plan, words);
    for (const leaf of leaves) if (leaf.marker !== words.marker) this.words(leaf, plan);
  }

  /** What must never be signed: a plan marker made to stop the plan, and a plan replaced after it was made. */
  private undoPlan(plan: Plan, { payees }: Words): void {
    this.sign(`void ${plan.marker}`, [{ does: "make", marker: plan.marker }]);
    const successor = this.planMarker({ marker: plan.marker, payees }, "refund");
    this.sign(`replace the plan ${plan.marker}`, [
      { does: "approve", marker: plan.marker, delegate: successor },
      { does: "make", marker: successor },
      this.refundTo(payees),
    ]);
  }

  private refund(words: Words, parent: Plan | null): void {
    const name = `refund ${words.marker}`;
    if (!this.rules.refundsReplace) {
      this.sign(name, [...this.follow(parent), ...this.mark(name), this.refundTo(words.payees)]);
      return;
    }
    const refund = this.refundTo(words.payees);
    const named = this.rules.refundsNameNoAmount ? "refund" : `refund of ${String(refund.amount)}`;
    const plan: Plan = { marker: this.planMarker(words, named), leaves: [], isRefund: true };
    this.plans.set(plan.marker, plan);
    this.sign(name, [...this.makePlan(words, parent, plan), refund]);
    if (this.rules.inlineLeavesStayInline) return;
    const apart = `${name} apart`;
    this.sign(apart, [...this.follow(plan), ...this.mark(apart), refund]);
  }

  private makePlan(words: Words, parent: Plan | null, plan: Plan): readonly Step[] {
    const follows: readonly Step[] = this.rules.replacementsFollow ? this.followPlan(parent) : [];
    return [
      ...follows,
      { does: "make", marker: words.marker },
      { does: "approve", marker: words.marker, delegate: plan.marker },
      { does: "make", marker: plan.marker },
    ];
  }

  private planMarker({ marker }: Words, leaves: string): string {
    return this.rules.plansNameTheirLeaves ? `(${marker} => ${leaves})` : `(${marker} => something)`;
  }

  private follow(parent: Plan | null): readonly Step[] {
    return this.rules.leavesFollow ? this.followPlan(parent) : [];
  }

  private followPlan(parent: Plan | null): readonly Step[] {
    return parent === null ? [] : [{ does: "revoke", marker: parent.marker }];
  }

  private mark(marker: string): readonly Step[] {
    return this.rules.leavesMark ? [{ does: "make", marker }] : [];
  }

  private pays({ payees }: Words): readonly Step[] {
    return payees.map((payee) => ({ does: "pay", payee, amount: this.order.amounts[payee] ?? 0 }));
  }

  private refundTo(payees: readonly number[]): Extract<Step, { readonly does: "refund" }> {
    const amounts = payees.map((payee) => this.order.amounts[payee] ?? 0);
    const sum = amounts.reduce((total, amount) => total + amount, 0);
    return { does: "refund", payees, amount: sum - this.copy.refundCost };
  }

  private sign(name: string, steps: readonly Step[]): void {
    const refused = steps.some((step) => step.does === "pay" && this.order.unpayable.includes(step.payee));
    if (!refused) this.messages.push({ name, steps });
  }
}

function payout(payees: readonly number[]): Words {
  return { marker: `payout ${payees.join("+")}`, payees };
}
