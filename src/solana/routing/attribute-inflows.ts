/** Attributes a transaction's payments to an owner by the balances before and after it, never by its instructions. */
import type { Address } from "../../core/address.ts";
import { isOnCurve } from "../derived-addresses.ts";

export interface TokenChange {
  readonly account: Address;
  /** Null where the node does not say whose account it is. */
  readonly owner: Address | null;
  readonly mint: Address;
  readonly change: bigint;
}

/** A landed transaction, as far as attribution needs it. */
export interface TransactionChange {
  readonly signature: string;
  /** The fee payer first. */
  readonly signers: readonly Address[];
  /** Lamports that the network charged the fee payer. */
  readonly fee: bigint;
  readonly lamports: readonly { readonly account: Address; readonly change: bigint }[];
  /** Token balances before the transaction (negative), then token balances after the transaction. */
  readonly tokens: readonly TokenChange[];
}

/** The money that one transaction brought to an owner, for one asset. */
export interface Inflow {
  /** Null for lamports. */
  readonly mint: Address | null;
  /** Increase of the owner's balance over all accounts, in base units. */
  readonly amount: bigint;
  /**
   * Known owners whose balance of this asset fell, each with the most that it can have given: base units, at most those
   * of the inflow; several payers may have given together.
   */
  readonly from: readonly { readonly payer: Address; readonly amount: bigint }[];
  /**
   * Base units that may have come from a payer without a name: newly minted, out of a program's account, or
   * out of an account that another key could close.
   */
  readonly unattributed: bigint;
}

/** The change of a holder's balance, and whether the holder is known by name. */
interface HolderChange {
  readonly holder: Address;
  readonly isNamed: boolean;
  change: bigint;
}

/** The owner's gain of one asset, in base units, and the changes of all holders' balances. */
interface AssetGain {
  /** Null for lamports. */
  readonly mint: Address | null;
  readonly amount: bigint;
  readonly holders: readonly HolderChange[];
}

/** Inflows of a transaction: one for each asset of which the owner has more afterwards. Null is lamports. */
export function inflowsIn(
  owner: Address,
  assets: readonly (Address | null)[],
  landed: TransactionChange,
): readonly Inflow[] {
  return assets.flatMap((mint): Inflow[] => {
    const holders = mint === null ? lamportHolders(owner, landed) : tokenHolders(mint, landed);
    const amount = holders.find(({ holder }) => holder === owner)?.change ?? 0n;
    return amount > 0n ? [inflowOf({ mint, amount, holders })] : [];
  });
}

/**
 * With several payers and several receivers, balances do not tell who paid whom: each payer counts with the most that
 * it can have given, and payers without a name count first.
 */
function inflowOf({ mint, amount, holders }: AssetGain): Inflow {
  const givers = holders.filter(({ change }) => change < 0n);
  const given = sumOf(givers);
  const got = sumOf(holders.filter(({ change }) => change > 0n));
  const created = got > -given ? got + given : 0n;
  const nameless = created - sumOf(givers.filter(({ isNamed }) => !isNamed));
  return {
    mint,
    amount,
    from: givers
      .filter(({ isNamed }) => isNamed)
      .map(({ holder, change }): Inflow["from"][number] => ({
        payer: holder,
        amount: least(-change, amount),
      })),
    unattributed: least(nameless, amount),
  };
}

/**
 * Only its own signature lets lamports leave a wallet. So an account that lost lamports without signing belongs to a
 * program; it counts as its owner's only if it is a token account and the owner signed: a token account may be closed
 * by another signer, who was given the right to.
 */
function lamportHolders(
  owner: Address,
  { signers, fee, lamports, tokens }: TransactionChange,
): HolderChange[] {
  const signed = new Set<string>(signers);
  // The owner before the transaction, if any: balances from before come first.
  const ownerOf = new Map(tokens.toReversed().map((each) => [each.account, each.owner]));
  const [feePayer] = signers;
  return summed(
    lamports.map(({ account, change }) => {
      const tokenOwner = ownerOf.get(account) ?? null;
      const isOwners = tokenOwner !== null && tokenOwner !== owner && signed.has(tokenOwner);
      const holder = isOwners ? tokenOwner : account;
      return {
        holder,
        isNamed: signed.has(holder),
        // The network's fee went to no other account.
        change: account === feePayer ? change + fee : change,
      };
    }),
  );
}

/** Tokens leave an account by its owner's signature or consent. An owner without a key is a program. */
function tokenHolders(mint: Address, { tokens }: TransactionChange): HolderChange[] {
  return summed(
    tokens
      .filter((each) => each.mint === mint)
      .map(({ account, owner, change }) =>
        owner === null
          ? { holder: account, isNamed: false, change }
          : { holder: owner, isNamed: isOnCurve(owner), change },
      ),
  );
}

function summed(changes: readonly HolderChange[]): HolderChange[] {
  const sums = new Map<string, HolderChange>();
  for (const each of changes) {
    const known = sums.get(each.holder);
    if (known === undefined) sums.set(each.holder, { ...each });
    else known.change += each.change;
  }
  return [...sums.values()];
}

function sumOf(holders: readonly HolderChange[]): bigint {
  return holders.reduce((sum, { change }) => sum + change, 0n);
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
