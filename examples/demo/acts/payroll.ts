/** A private payroll of a hundred people, one of whom cannot be paid. */
// modules: private
import assert from "node:assert/strict";
import type { TransactionBody } from "paystate";
import { decimalOf, sum, unitsIn } from "../amounts.ts";
import type { Client } from "../client.ts";
import { usdcOf } from "../explorer.ts";
import { followToEnd } from "../follow.ts";
import { FAILED, showNotices } from "../notices.ts";
import { deposit, quoteAndPost } from "../private-mode.ts";
import { note, ok, progress, step, title } from "../screen.ts";
import type { ChainReady } from "../settings.ts";
import type { Stage } from "../stage.ts";
import { until } from "../until.ts";
import { freezeUsdc } from "../wallet.ts";

/** Which employee's account the issuer freezes, counted from 1. */
const FROZEN = 42;

export async function payroll(stage: Stage): Promise<void> {
  const { chain, client, receiver } = stage;
  const { employees } = chain;
  const frozen = employees[FROZEN - 1] ?? assert.fail(`there is no employee ${FROZEN}`);
  title(`Alice pays ${employees.length} people privately, and one of them cannot be paid`);
  note("each gets another amount, from 1.01 to 2 USDC; ten need a token account first, which costs rent");
  const recipients = employees.map((address, index) => ({
    address,
    amount: decimalOf(1_010_000n + 10_000n * BigInt(index)),
  }));
  const { order } = await quoteAndPost(stage, { type: "payroll", recipients });
  await freezeUsdc(chain, frozen);
  step("freeze", `the issuer of USDC freezes the account of employee ${FROZEN}`);
  const before = await readOwned(chain, order.ephemeralAddress);
  await deposit(stage, order);

  const show = progress("paid", recipients.length, "people");
  const ended = await followToEnd(client, order.transactionId, ({ status, recipients: shares }) => {
    if (status === "processing") show(paidAmong(shares));
  });
  // The last of them may be paid between two looks.
  show(paidAmong(ended.recipients));
  showOutcome(ended, frozen);
  await showRefunds(client, order.transactionId);
  const due = recipients.map(({ address, amount }) => (address === frozen ? 0n : unitsIn(amount)));
  showOnChain(before, await readOwned(chain, order.ephemeralAddress), {
    due,
    deposited: unitsIn(order.depositAmount),
  });
  const { data } = await showNotices(receiver, order.transactionId, FAILED);
  assert(paidAmong(data.recipients) === paidAmong(ended.recipients), "the webhook does not say who was paid");
  ok(`that webhook lists all ${data.recipients.length} people, each as paid or unpaid`);
}

function paidAmong(shares: readonly { readonly status?: string }[]): number {
  return shares.filter(({ status }) => status === "paid").length;
}

/** What the service says in the end: a payroll that is not whole has failed, even when some were paid. */
function showOutcome({ status, reason, recipients }: TransactionBody, frozen: string): void {
  const unpaid = recipients.filter((share) => share.status === "unpaid");
  step("reason", `${String(reason)}: ${paidAmong(recipients)} were paid, ${unpaid.length} was not`);
  assert(status === "failed" && reason === "PARTIAL_PAYOUT", "the payroll was to be paid in part");
  assert(unpaid.map(({ address }) => address).join() === frozen, `employee ${FROZEN} alone was to be unpaid`);
}

/** The refund: amounts of payees who could not be paid go back once the order is over. */
async function showRefunds(client: Client, transactionId: string): Promise<void> {
  const refunds = await until("the refund to Alice", async () => {
    const { refunds: shown } = await client.transaction(transactionId);
    return shown.length > 0 && shown.every(({ status }) => status === "paid") ? shown : undefined;
  });
  for (const { amount, asset } of refunds) step("refund", `${amount} ${asset} to Alice`);
}

/** What everybody who has to do with the payroll owns, in millionths of a USDC. */
interface Owned {
  readonly alice: bigint;
  /** The operator's, and what is still at the deposit address. */
  readonly operator: bigint;
  readonly employees: readonly bigint[];
}

async function readOwned(chain: ChainReady, depositAddress: string): Promise<Owned> {
  const { treasury, sponsor } = chain.operator;
  const [[alice = 0n, ...operator], employees] = await Promise.all([
    usdcOf(chain, [chain.alice.address, treasury.address, sponsor.address, depositAddress]),
    usdcOf(chain, chain.employees),
  ]);
  return { alice, operator: sum(operator), employees };
}

/** What the chain says, to the millionth. */
function showOnChain(
  before: Owned,
  after: Owned,
  { due, deposited }: { readonly due: readonly bigint[]; readonly deposited: bigint },
): void {
  const got = after.employees.map((amount, index) => amount - (before.employees[index] ?? 0n));
  assert(got.join() === due.join(), "somebody was not paid exactly once");
  ok(`${due.filter((amount) => amount > 0n).length} people got exactly their own amount, once`);
  const back = deposited - (before.alice - after.alice);
  const kept = after.operator - before.operator;
  assert(deposited === sum(due) + back + kept, "the sum of what came and what went is not nothing");
  ok(
    `${decimalOf(deposited)} deposited = ${decimalOf(sum(due))} paid + ${decimalOf(back)} refunded + ` +
      `${decimalOf(kept)} kept: the fee, and what the refund cost`,
  );
}
