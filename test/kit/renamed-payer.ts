/** A lie about who paid: in every transaction that a node tells, another owner's name stands at the token accounts of one. */
import { lyingAbout, type OddRule } from "./odd-endpoints.ts";

interface BalanceTold {
  readonly owner?: string;
}

interface TransactionTold {
  readonly meta: {
    readonly preTokenBalances?: readonly BalanceTold[];
    readonly postTokenBalances?: readonly BalanceTold[];
  };
}

/** The bytes stay: their signatures would give the lie away, and owners stand beside them. */
export function renaming(payer: string, to: string): OddRule {
  const ownersOf = (balances: readonly BalanceTold[] = []): readonly BalanceTold[] =>
    balances.map((each) => (each.owner === payer ? { ...each, owner: to } : each));
  return lyingAbout("getTransaction", (honest: TransactionTold | null) => {
    if (honest === null) return honest;
    const { meta } = honest;
    return {
      ...honest,
      meta: {
        ...meta,
        preTokenBalances: ownersOf(meta.preTokenBalances),
        postTokenBalances: ownersOf(meta.postTokenBalances),
      },
    };
  });
}
