/** The cheapest look at deposit addresses: one account for each address, a hundred addresses in a call. */
import type { DepositRecord } from "../tables/deposits.ts";
import type { Address } from "../../address.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { AssetAccount } from "../../ledger/routing.ts";
import { isTurnOver, nextTurn } from "../../runtime.ts";
import { ledgerMint, type Assets } from "../assets/assets.ts";

export interface WatchedAddress {
  readonly address: Address;
  /** The deposit window's end, in milliseconds of the chain's clock; never, when it waits for no deposit any more. */
  readonly endsAt: number;
  /** The asset in which the order expects its money, by its place among the assets. */
  readonly expected: number;
  /** The key under which the transactions of its deposits may be listed. */
  readonly referenceKey: Address | null;
  /** Known accounts by asset: nothing is derived twice. */
  readonly accounts: (Address | undefined)[];
  /** The number of looks so far. */
  looks: number;
  /** An account held something else than was last said, and what it is has not been read yet. */
  hasChanged: boolean;
  /** The last reported balance, by asset; zeros before the first report. */
  said: readonly bigint[];
  /** Whether that report said that the window is over. */
  isSaidOver: boolean;
  /** The number of the look that reported. */
  saidAtLook: number;
}

const NEVER = Number.MAX_SAFE_INTEGER;
/** A zero balance for every asset, before the first look. */
const NOTHING: readonly bigint[] = [];

/** The token account of each token at an address, by mint, as it is stored with the address. */
export function depositAccounts(
  ledger: Pick<Ledger, "tokenAccountOf">,
  { tokens }: Assets,
  address: Address,
): Readonly<Record<string, Address>> {
  const mints = tokens.map(ledgerMint).filter((mint) => mint !== null);
  return Object.fromEntries(mints.map((mint) => [mint, ledger.tokenAccountOf(address, mint)]));
}

export function watchedAddress(deposit: DepositRecord, { tokens }: Assets): WatchedAddress {
  return {
    address: deposit.id,
    endsAt: deposit.waitEndedAt === null ? deposit.expiresAt : NEVER,
    expected: tokens.findIndex(({ mint }) => mint === deposit.mint),
    referenceKey: deposit.referenceKey,
    accounts: tokens.map(({ mint }) => deposit.accounts?.[mint]),
    looks: 0,
    hasChanged: false,
    said: NOTHING,
    isSaidOver: false,
    saidAtLook: 0,
  };
}

/** Every third look is at another account than the expected one: of three assets each is looked at within six looks. */
const OTHERS_EVERY = 3;

/** The asset whose account the next look is at. */
function assetInTurn({ looks, expected }: WatchedAddress, assets: number): number {
  if (looks % OTHERS_EVERY !== OTHERS_EVERY - 1) return expected;
  const other = Math.floor(looks / OTHERS_EVERY) % (assets - 1);
  return other < expected ? other : other + 1;
}

/**
 * Looks at one account of each address, at finalized, in one call for a hundred addresses. The look only marks
 * addresses for a full reading (`hasChanged`): the look reveals neither the block nor other assets.
 */
export async function lookAtOneAccount(
  { ledger, assets }: { readonly ledger: Ledger; readonly assets: Assets },
  addresses: readonly WatchedAddress[],
): Promise<void> {
  const looks: {
    readonly watched: WatchedAddress;
    readonly asset: number;
    readonly account: AssetAccount;
  }[] = [];
  for (const watched of addresses) {
    // Only what is stored of an earlier version has to be derived.
    if (isTurnOver()) await nextTurn();
    const asset = assetInTurn(watched, assets.tokens.length);
    looks.push({ watched, asset, account: accountOf({ ledger, assets }, watched, asset) });
  }
  const amounts = await ledger.amountsIn(
    looks.map(({ account }) => account),
    "finalized",
  );
  looks.forEach(({ watched, asset }, index) => {
    watched.looks += 1;
    watched.hasChanged ||= amounts[index] !== (watched.said[asset] ?? 0n);
  });
}

function accountOf(
  { ledger, assets: { tokens } }: { readonly ledger: Ledger; readonly assets: Assets },
  { address, accounts }: WatchedAddress,
  asset: number,
): AssetAccount {
  const token = tokens[asset];
  const mint = token === undefined ? null : ledgerMint(token);
  if (mint === null) return { address, mint };
  return { address: (accounts[asset] ??= ledger.tokenAccountOf(address, mint)), mint };
}
