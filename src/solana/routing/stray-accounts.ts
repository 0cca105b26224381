/** Finds token accounts beside the associated one: some senders pay into an account of their own making. */
import type { Evidence } from "../../ledger/belief.ts";
import type { StrayAccount, StrayReading } from "../../ledger/routing.ts";
import { weigh } from "../agree.ts";
import type { NodeContext, EndpointCall } from "../ask.ts";
import { associatedTokenAccount } from "../associated-token-account.ts";
import { programOf, readTokenAccount } from "../token-accounts.ts";
import { agreedBalances, largestFirst } from "./agreed-funds.ts";
import type { OwnerFundsQuery } from "./funds-of-owner.ts";
import { isFrozen } from "./held-in-account.ts";

/** See `RoutingLedger.strayAccounts`. */
export async function strayAccounts(
  nodes: NodeContext,
  asked: OwnerFundsQuery,
): Promise<Evidence<StrayReading>> {
  return await weigh(nodes, { of: "strayAccounts", question: readStrays(asked) }, (readings) =>
    vouchedFor(nodes, asked, readings),
  );
}

function vouchedFor(
  nodes: NodeContext,
  asked: OwnerFundsQuery,
  readings: readonly StrayReading[],
): StrayReading {
  const known = new Map(readings.flatMap(({ accounts }) => accounts.map((each) => [each.address, each])));
  const addresses = [...known.keys()];
  const answers = readings.map(({ accounts, ...reading }) => ({
    ...reading,
    amounts: addresses.map((address) => accounts.find((each) => each.address === address)?.amount ?? 0n),
  }));
  const { oldest, amounts, most } = agreedBalances(answers, nodes.witnesses);
  const agreed = [...known.values()].map((each, index) => ({ ...each, amount: amounts[index] ?? 0n }));
  const isDisputed = agreed.some(({ amount }, index) => (most[index] ?? 0n) > amount);
  const subject = `the token accounts of ${asked.owner}`;
  if (isDisputed) {
    nodes.disputes.note(
      subject,
      readings.map(({ endpoint }) => endpoint),
    );
  } else {
    nodes.disputes.end(subject);
  }
  return {
    slot: oldest.slot,
    endpoint: oldest.endpoint,
    accounts: agreed
      .filter(({ amount }) => amount > 0n)
      .toSorted((one, other) => largestFirst(one.amount, other.amount)),
  };
}

/** One endpoint answers the whole question; the slot is the slot of its oldest answer. */
function readStrays({ owner, mints, commitment }: OwnerFundsQuery): EndpointCall<StrayReading> {
  return async ({ rpc, name }) => {
    const found = await Promise.all(
      mints.map(async (mint) => {
        const { slot, accounts } = await rpc.getTokenAccountsByOwner(owner, { mint }, commitment);
        const strays = accounts
          .filter(({ account }) => !isFrozen(account))
          .flatMap(({ pubkey: address, account }): StrayAccount[] => {
            const program = programOf(account.owner);
            const held = readTokenAccount(account.data);
            if (program === null || held?.owner !== owner || held.mint !== mint) return [];
            const isStray = address !== associatedTokenAccount(owner, mint, program);
            return isStray && held.amount > 0n ? [{ address, mint, amount: held.amount }] : [];
          });
        return { slot, accounts: strays };
      }),
    );
    return {
      slot: Math.min(...found.map(({ slot }) => slot)),
      endpoint: name,
      accounts: found.flatMap(({ accounts }) => accounts),
    };
  };
}
