/** Whose money came to an address: told from what each transaction took from whom, never from its instructions. */
import type { Address } from "../../../address.ts";
import type { Payers } from "../../routing.ts";
import { ask, type Nodes, type Question } from "../ask.ts";
import { EndpointFailure } from "../endpoint-failure.ts";
import { NEWEST_TRANSACTION_VERSION } from "../statuses.ts";
import { associatedTokenAccount } from "../associated-token-account.ts";
import { inBatches, naming } from "./signed-by.ts";

// Each costs a call. Whoever floods an address shows in `isWhole`.
const MOST_TRANSACTIONS = 100;

/** See `RoutingLedger.payersOf`. */
export async function payersOf(nodes: Nodes, owner: Address, mints: readonly Address[]): Promise<Payers> {
  const accounts = [owner, ...mints.map((mint) => associatedTokenAccount(owner, mint))];
  const lists = await Promise.all(accounts.map((account) => naming(nodes, account, MOST_TRANSACTIONS)));
  const landed = lists
    .flatMap(({ named }) => named)
    .filter(({ error }) => error === null)
    .map(({ signature }) => signature);
  const payers = await inBatches([...new Set(landed)], (signature) => ask(nodes, payersIn(owner, signature)));
  return {
    addresses: [...new Set(payers.flat())],
    isWhole: lists.every(({ isWhole }) => isWhole),
  };
}

/** Nobody when the transaction brought the owner nothing. */
function payersIn(owner: Address, signature: string): Question<Address[]> {
  return async (connection) => {
    const landed = await connection.getTransaction(signature, {
      commitment: "finalized",
      maxSupportedTransactionVersion: NEWEST_TRANSACTION_VERSION,
    });
    const meta = landed?.meta ?? null;
    if (landed === null || meta === null) {
      throw new EndpointFailure("behind", "a finalized transaction it does not have");
    }
    const keys = landed.transaction.message
      .getAccountKeys(
        meta.loadedAddresses === null || meta.loadedAddresses === undefined
          ? {}
          : { accountKeysFromLookups: meta.loadedAddresses },
      )
      .keySegments()
      .flat()
      .map((key) => key.toBase58() as Address);
    const changes = [
      ...keys.map((address, index): Change => {
        const change = BigInt(meta.postBalances[index] ?? 0) - BigInt(meta.preBalances[index] ?? 0);
        return { owner: address, mint: null, change };
      }),
      ...(meta.preTokenBalances ?? []).map((held) => tokenChange(held, -1n)),
      ...(meta.postTokenBalances ?? []).map((held) => tokenChange(held, 1n)),
    ];
    const sums = new Map<string, Change>();
    for (const each of changes) {
      const key = `${each.owner} ${each.mint}`;
      sums.set(key, { ...each, change: (sums.get(key)?.change ?? 0n) + each.change });
    }
    const all = [...sums.values()];
    const brought = new Set(
      all.filter((each) => each.owner === owner && each.change > 0n).map(({ mint }) => mint),
    );
    if (brought.size === 0) return [];
    const [feePayer] = keys;
    const givers = all.filter((each) => each.change < 0n && brought.has(each.mint)).map((each) => each.owner);
    return [...givers, ...(feePayer === undefined ? [] : [feePayer])].filter((payer) => payer !== owner);
  };
}

interface Change {
  readonly owner: Address;
  /** Null for lamports. */
  readonly mint: string | null;
  readonly change: bigint;
}

function tokenChange(
  held: {
    readonly mint: string;
    readonly owner?: string;
    readonly uiTokenAmount: { readonly amount: string };
  },
  sign: bigint,
): Change {
  const { mint, owner = "", uiTokenAmount } = held;
  return { owner: owner as Address, mint, change: sign * BigInt(uiTokenAmount.amount) };
}
