/**
 * The books when every deposit address has closed: each is empty, and what the treasury and the sponsor have more or less
 * by the chain is to the base unit what the lines of the addresses say.
 */
import { SOL_MINT } from "../../src/address.ts";
import { associatedTokenAddress } from "../../src/local/index.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import type { EntryRecord } from "../../src/payments/tables/deposits.ts";
import {
  feesBurnt,
  lamportsFrom,
  photograph,
  type Photograph,
  possession,
  type ShownChain,
} from "../payments/private/photograph.ts";
import { allAddresses, type AddressInState } from "./addresses.ts";
import type { Placed } from "./customers.ts";
import { CRUMBS } from "./plan.ts";
import type { ChainReady } from "./processes/settings.ts";

/** Whose books are looked at. */
export interface BooksParts {
  readonly storage: PaymentStorage;
  readonly placed: readonly Placed[];
  readonly chain: ChainReady;
  /** Before the first order. */
  readonly before: Photograph;
}

/** The chain as its nodes show it to who names no endpoint: no fault is in the way. */
export function shownChain({ rpcUrl }: Pick<ChainReady, "rpcUrl">): ShownChain {
  const headers = { "content-type": "application/json" };
  return {
    slot: () => 0,
    fetch: (_input, init) => fetch(rpcUrl, { ...init, method: "POST", headers }),
  };
}

/** One sentence for each thing that does not add up. */
export async function brokenBooks(parts: BooksParts): Promise<readonly string[]> {
  const addresses = await allAddresses(parts.storage);
  const lines = await Promise.all(addresses.map(({ deposit }) => parts.storage.entries(deposit.id)));
  const after = await photograph(shownChain(parts.chain));
  return [
    ...brokenAddresses(parts, addresses, after),
    ...brokenTreasury(parts, lines.flat(), after),
    ...(await brokenSponsor(parts, lines.flat(), after)),
  ];
}

/** As the lines and as the chain name an asset. */
const assetsOf = ({
  mints,
}: ChainReady): readonly { readonly line: string; readonly mint: string | null }[] => [
  { line: SOL_MINT, mint: null },
  { line: mints.USDC, mint: mints.USDC },
  { line: mints.USDT, mint: mints.USDT },
];

/** Closed, by itself, and empty but for crumbs that came when nothing was to be sent from it any more. */
function brokenAddresses(
  { chain, placed }: BooksParts,
  addresses: readonly AddressInState[],
  after: Photograph,
): readonly string[] {
  const withCrumbs = new Set(
    placed.flatMap(({ deposit }) => (deposit?.late === BigInt(CRUMBS) ? [deposit.address] : [])),
  );
  return addresses.flatMap(({ deposit: { id, heldReason }, state }) => {
    if (state !== "closed" || heldReason !== null) {
      return [`P: ${id} is ${state} at the end (${String(heldReason)})`];
    }
    return assetsOf(chain).flatMap(({ mint }) => {
      const left = possession(after, id, mint);
      const isExplained =
        left === 0n || (mint === chain.mints.USDC && withCrumbs.has(id) && left === BigInt(CRUMBS));
      return isExplained ? [] : [`P: ${id} has closed, and has ${left} of ${mint ?? "SOL"}`];
    });
  });
}

/** I14: it has what was kept and what was swept, once. */
function brokenTreasury(
  { chain, before }: BooksParts,
  lines: readonly EntryRecord[],
  after: Photograph,
): readonly string[] {
  const { address } = chain.wallets.treasury;
  return assetsOf(chain).flatMap(({ line, mint }) => {
    const got = possession(after, address, mint) - possession(before, address, mint);
    const due = sumOf(lines, line, "fee") + sumOf(lines, line, "dust");
    return got === due ? [] : [`I14: the treasury got ${got} of ${line}, and on record are ${due}`];
  });
}

/**
 * I14: it has paid transaction fees and the rent of accounts that still exist. Loans were paid back to it, and so was the
 * rent of each closed account of a deposit address, whoever had opened that.
 */
async function brokenSponsor(
  { chain, placed, before }: BooksParts,
  lines: readonly EntryRecord[],
  after: Photograph,
): Promise<readonly string[]> {
  const shown = shownChain(chain);
  const { address } = chain.wallets.sponsor;
  const got = possession(after, address, null) - possession(before, address, null);
  const burnt = (await feesBurnt(shown, [address], before.slot)).get(address) ?? 0n;
  const paidBack = sumOf(lines, SOL_MINT, "repayment") - sumOf(lines, SOL_MINT, "loan");
  let opened = 0n;
  const owners = new Set<string>([chain.wallets.treasury.address]);
  for (const { deposit, recipients } of placed) {
    if (deposit === null) continue;
    owners.add(deposit.address);
    for (const recipient of recipients) owners.add(recipient.address);
    const account = associatedTokenAddress(deposit.address, chain.mints.USDC);
    opened += await lamportsFrom(shown, chain.faucet, account);
  }
  const old = new Set(before.accounts.map((account) => account.address));
  const standing = after.accounts
    .filter((account) => account.tokens !== null && owners.has(account.owner) && !old.has(account.address))
    .reduce((sum, { lamports }) => sum + lamports, 0n);
  const due = paidBack + opened - standing - burnt;
  return got === due ? [] : [`I14: the sponsor got ${got} lamports, and by its books ${due}`];
}

const sumOf = (lines: readonly EntryRecord[], mint: string, kind: EntryRecord["kind"]): bigint =>
  lines
    .filter((line) => line.mint === mint && line.kind === kind)
    .reduce((sum, { amount }) => sum + amount, 0n);
