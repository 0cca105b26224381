/** A lie about who paid: in every transaction that a node tells, one key stands in the place of another. */
import { PublicKey } from "@solana/web3.js";
import { lyingAbout, type OddRule } from "./odd-endpoints.ts";

interface BalanceTold {
  readonly owner?: string;
}

interface TransactionTold {
  readonly transaction: readonly [string, string];
  readonly meta: {
    readonly preTokenBalances?: readonly BalanceTold[];
    readonly postTokenBalances?: readonly BalanceTold[];
  };
}

/** The fee payer and the owners of token accounts are renamed, and the bytes say the same. */
export function renaming(payer: string, to: string): OddRule {
  const [from, other] = [payer, to].map((each) => Buffer.from(new PublicKey(each).toBytes()));
  const ownersOf = (balances: readonly BalanceTold[] = []): readonly BalanceTold[] =>
    balances.map((each) => (each.owner === payer ? { ...each, owner: to } : each));
  return lyingAbout("getTransaction", (honest: TransactionTold | null) => {
    if (honest === null || from === undefined || other === undefined) return honest;
    const bytes = Buffer.from(honest.transaction[0], "base64");
    for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from)) other.copy(bytes, at);
    const { meta } = honest;
    return {
      ...honest,
      transaction: [bytes.toString("base64"), "base64"],
      meta: {
        ...meta,
        preTokenBalances: ownersOf(meta.preTokenBalances),
        postTokenBalances: ownersOf(meta.postTokenBalances),
      },
    };
  });
}
