/** Token accounts beside the associated one: money that came to an owner without asking where it should go. */
import { PublicKey } from "@solana/web3.js";
import type { Address } from "../../../address.ts";
import type { Commitment, Reading } from "../../reading.ts";
import type { StrayAccount } from "../../routing.ts";
import { ask, type Nodes } from "../ask.ts";
import { associatedTokenAccount } from "../associated-token-account.ts";
import { programOf, readTokenAccount } from "../token-accounts.ts";
import { isFrozen } from "./held-in-account.ts";

/** See `RoutingLedger.strayAccounts`. One node answers all of it; the slot is the oldest of its answers. */
export async function strayAccounts(
  nodes: Nodes,
  owner: Address,
  mints: readonly Address[],
  commitment: Commitment,
): Promise<Reading & { accounts: StrayAccount[] }> {
  return await ask(nodes, async (connection, endpoint) => {
    const found = await Promise.all(
      mints.map(async (mint) => {
        const { context, value } = await connection.getTokenAccountsByOwner(
          new PublicKey(owner),
          { mint: new PublicKey(mint) },
          commitment,
        );
        const accounts = value
          .filter(({ account }) => !isFrozen(account))
          .flatMap(({ pubkey, account }): StrayAccount[] => {
            const address = pubkey.toBase58() as Address;
            const program = programOf(account.owner.toBase58());
            const held = readTokenAccount(account.data);
            if (program === null || held?.owner !== owner || held.mint !== mint) return [];
            const isStray = address !== associatedTokenAccount(owner, mint, program);
            return isStray && held.amount > 0n ? [{ address, mint, amount: held.amount }] : [];
          });
        return { slot: context.slot, accounts };
      }),
    );
    return {
      slot: Math.min(...found.map(({ slot }) => slot)),
      endpoint: endpoint.name,
      accounts: found.flatMap(({ accounts }) => accounts).toSorted(fullestFirst),
    };
  });
}

function fullestFirst(one: StrayAccount, other: StrayAccount): number {
  return one.amount > other.amount ? -1 : Number(one.amount < other.amount);
}
