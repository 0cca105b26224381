/** The states of the charts in which something may rest for a while: the database of a version has something in each. */
import type { AnyStateMachine, AnyStateNode } from "xstate";
import { depositAddress } from "../../machines/deposit-address.ts";
import { payment } from "../../machines/payment.ts";
import { privateTransfer } from "../../machines/private-transfer.ts";
import { walletTransfer } from "../../machines/wallet-transfer.ts";
import { webhookDelivery } from "../../machines/webhook-delivery.ts";

/** States that last no time, with what they wait for: what was in one when a process ended is done again as any task is. */
export const BRIEF: Readonly<Record<string, string>> = {
  "payment planned": "its signature",
  "payment inFlight.signed": "the answer of the nodes that it is sent to",
  "payment inFlight.following": "the commit that starts its leaves",
  "payment succeeding": "the commit that starts its leaves",
  "payment reading": "one look at its marker",
  "payment doubting": "half a minute, then for one more look",
  "payment explaining": "one look at what failed",
  "payment pausing": "half a minute, then for another signature",
  "deposit-address collecting.looking": "one look at the accounts of the address",
  "deposit-address settling": "one look at the address",
  "deposit-address returning": "one look at the address",
  "deposit-address closing": "a message of the order",
  "deposit-address declining": "a message of the order",
  "webhook-delivery waiting": "the first attempt of the notice before",
  "webhook-delivery attempting": "one request",
  "webhook-delivery givingUp": "the commit that counts it",
};

/** What goes on in the same step. */
const passes = ({ always = [] }: AnyStateNode): boolean => always.some(({ guard }) => guard === undefined);

function leaves(node: AnyStateNode, path: readonly string[] = []): readonly string[] {
  const within = Object.entries(node.states);
  if (within.length === 0) return passes(node) ? [] : [path.join(".")];
  return within.flatMap(([name, each]) => leaves(each, [...path, name]));
}

const charts: readonly AnyStateMachine[] = [
  walletTransfer,
  privateTransfer,
  depositAddress,
  payment,
  webhookDelivery,
];

/** As `payment inFlight.broadcast`. */
export const LASTING: readonly string[] = charts.flatMap(({ id, root }) =>
  leaves(root).map((state) => `${id} ${state}`),
);
