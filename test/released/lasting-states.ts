/** The states of the charts in which something may rest for a while: the database of a version has something in each. */
// modules: webhooks
import type { AnyStateMachine, AnyStateNode } from "xstate";
import { order } from "../../machines/order.ts";
import { transfer } from "../../machines/transfer.ts";
import { walletTransfer } from "../../machines/wallet-transfer.ts";
import { webhookDelivery } from "../../machines/webhook-delivery.ts";

/** States that last no time, with what they wait for: what was in one when a process ended is done again as any task is. */
export const BRIEF: Readonly<Record<string, string>> = {
  "private-order undecided.closing": "the line of its end",
  "order-transfer planned.signing": "one look at the order, and a signature",
  "order-transfer out.concluding": "one look at what became of its bytes",
  "webhook-delivery waiting": "the first attempt of the notice before",
  "webhook-delivery attempting": "one request",
  "webhook-delivery givingUp": "the commit that counts it",
};

/** States that no order comes to by itself, with what it takes. */
export const RARE: Readonly<Record<string, string>> = {
  "private-order over.paying": "a go that another copy of the database has signed, after the end",
  "order-transfer ended": "a price that falls between the plan of a rest and its signature",
};

/** What goes on in the same step. */
const passes = ({ always = [] }: AnyStateNode): boolean => always.some(({ guard }) => guard === undefined);

/** A delivery is gone with its end. */
const isGone = ({ type, machine }: AnyStateNode): boolean =>
  type === "final" && machine.id === webhookDelivery.id;

function leaves(node: AnyStateNode, path: readonly string[] = []): readonly string[] {
  const within = Object.entries(node.states);
  if (within.length === 0) return passes(node) || isGone(node) ? [] : [path.join(".")];
  return within.flatMap(([name, each]) => leaves(each, [...path, name]));
}

const charts: readonly AnyStateMachine[] = [walletTransfer, order, transfer, webhookDelivery];

/** As `order-transfer out.sent`. */
export const LASTING: readonly string[] = charts.flatMap(({ id, root }) =>
  leaves(root).map((state) => `${id} ${state}`),
);
