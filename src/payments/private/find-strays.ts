/** Finds money of an order that does not count: in token accounts other than the associated ones, and of other mints. */
import { knownAddress, SOL_MINT, type Address } from "../../core/address.ts";
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import type { StrayAccount } from "../../ledger/routing.ts";
import type { PrivateContext, PrivateWrite } from "./private-storage.ts";
import type { DepositRecord, OrderView } from "./tables.ts";
import { tokensOf, type OrderLook } from "./look.ts";
import { isEmptiedByUs } from "./order-books.ts";
import { larger } from "./protocol/cost.ts";

/** Foreign mints of one order that are written down: whoever floods an address with mints pays for it. */
const MOST_MINTS = 10;

type StrayParts = Pick<PrivateContext, "ledger" | "assets" | "clock">;

interface Stray extends Pick<DepositRecord, "mint" | "amount" | "decimals"> {
  readonly account: Address;
}

/**
 * The changed rows, one for each account until our transfers empty it: found for the first time, grown, gone otherwise.
 * Finalized. Nothing waits for it: none while the chain does not answer.
 */
export async function findStrays(deps: StrayParts, look: OrderLook): Promise<readonly PrivateWrite[]> {
  const { address } = look.terms;
  const there = straysOf(look.view).filter(({ leftAt }) => leftAt === null);
  try {
    const [own, others] = await Promise.all([ofAssets(deps, address), ofOtherMints(deps, address, there)]);
    const found = [...own, ...others.found];
    const at = deps.clock.now();
    const isGone = ({ account, mint }: DepositRecord): boolean =>
      found.every((stray) => stray.account !== account) &&
      !isUnderWay(look.view, account) &&
      (deps.assets.ofMint(mint) !== null || others.asked.has(mint));
    return [
      ...found.flatMap((stray) => foundWrites(look.view, stray, at)),
      ...there.filter(isGone).map(({ id }): PrivateWrite => ({ table: "deposits", id, set: { leftAt: at } })),
    ];
  } catch (error) {
    if (error instanceof LedgerUnavailable) return [];
    throw error;
  }
}

/** A lagging node shows departed money for a while. */
const LAG_MS = 3_600_000;

/** An endpoint may have hidden what is there again: then it has never left. */
function foundWrites(view: OrderView, stray: Stray, at: number): readonly PrivateWrite[] {
  const { id: order } = view.order;
  const rows = straysOf(view).filter(({ account }) => account === stray.account);
  const row = rows.find((each) => !isEmptiedByUs(view, each));
  if (row === undefined) {
    if (rows.some(({ leftAt }) => leftAt !== null && at - leftAt < LAG_MS)) return [];
    const id = `${order}:${stray.account}:${rows.length}`;
    const insert = { ...stray, id, order, payer: null, signature: null, slot: null, at, leftAt: null };
    return [{ table: "deposits", insert }];
  }
  if (row.leftAt === null && stray.amount <= row.amount) return [];
  const amount = larger(stray.amount, row.amount);
  return [{ table: "deposits", id: row.id, set: { amount, at, leftAt: null } }];
}

/** The account may have been emptied by a transfer of ours, which tells it. */
function isUnderWay({ transfers }: OrderView, account: string | null): boolean {
  return transfers.some(
    ({ state, subjects }) => (state === "planned" || state === "out") && subjects.includes(account ?? ""),
  );
}

function straysOf({ deposits }: OrderView): readonly DepositRecord[] {
  return deposits.filter(({ account }) => account !== null);
}

/**
 * The accounts in which an order holds something of an asset that does not count. Wrapped SOL is a token: it counts in no
 * account before it is unwrapped.
 */
export async function uncountedAccounts(
  { ledger }: Pick<StrayParts, "ledger">,
  owner: Address,
  mint: Address,
): Promise<readonly StrayAccount[]> {
  const { accounts } = await ledger.holdingsOf(owner, [mint], "finalized");
  if (mint !== SOL_MINT) return accounts;
  const { funds } = await ledger.funds([owner], [mint], "finalized");
  const amount = funds[0]?.tokens[0] ?? 0n;
  return amount === 0n
    ? accounts
    : [...accounts, { address: ledger.tokenAccountOf(owner, mint), mint, amount }];
}

async function ofAssets(parts: StrayParts, address: Address): Promise<readonly Stray[]> {
  const tokens = [...tokensOf(parts.assets), { mint: SOL_MINT, decimals: 9 }];
  const readings = await Promise.all(
    tokens.map(async ({ mint, decimals }) => {
      const accounts = await uncountedAccounts(parts, address, mint);
      return accounts.map(({ address: account, amount }) => ({ account, mint, amount, decimals }));
    }),
  );
  return readings.flat();
}

/**
 * One node says which further mints there are, and as many as must agree how much, of those that were seen before, too. Money
 * in no other account is in the associated one.
 */
async function ofOtherMints(
  { ledger, assets }: StrayParts,
  address: Address,
  there: readonly DepositRecord[],
): Promise<{ readonly found: readonly Stray[]; readonly asked: ReadonlySet<string> }> {
  const { holdings } = await ledger.balances(address);
  const seen = [...there, ...holdings].flatMap(({ mint }) => mint ?? []);
  const others = [...new Set(seen)].filter((mint) => assets.ofMint(mint) === null).slice(0, MOST_MINTS);
  const mints = others.map(knownAddress);
  if (mints.length === 0) return { found: [], asked: new Set() };
  const [{ tokens, accounts: all }, metadata] = await Promise.all([
    ledger.holdingsOf(address, mints, "finalized"),
    ledger.mints(mints),
  ]);
  const found = mints.flatMap((mint, index): readonly Stray[] => {
    const facts = metadata[index] ?? null;
    const decimals = facts?.decimals ?? null;
    const accounts = all.filter((each) => each.mint === mint);
    const beside = accounts.reduce((sum, { amount }) => sum + amount, 0n);
    const associated = ledger.tokenAccountOf(address, mint, facts?.program);
    return [
      ...accounts.map((each) => ({ account: each.address, mint, amount: each.amount, decimals })),
      { account: associated, mint, amount: (tokens[index] ?? 0n) - beside, decimals },
    ].filter(({ amount }) => amount > 0n);
  });
  return { found, asked: new Set(mints) };
}
