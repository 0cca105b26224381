/**
 * The books when every order of private mode has come to rest: its address is empty, and what the treasury and the sponsor
 * have more or less by the chain is to the base unit what the rows of the orders say.
 */
// modules: private
import { SOL_MINT } from "../../src/core/address.ts";
import { associatedTokenAddress } from "../../src/local/funding.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { rentOf } from "../../src/ledger/order-reading.ts";
import type { StoredOrder } from "../../src/payments/private/look.ts";
import { booksOf, type OrderBooks } from "../../src/payments/private/order-books.ts";
import {
  feesBurnt,
  lamportsFrom,
  photograph,
  type Photograph,
  possession,
  type ShownChain,
} from "../payments/private/photograph.ts";
import { allOrders } from "./all-orders.ts";
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

/** An order at rest, with its books. */
interface Settled {
  readonly order: StoredOrder;
  readonly books: OrderBooks;
}

/** One sentence for each thing that does not add up. */
export async function brokenBooks(parts: BooksParts): Promise<readonly string[]> {
  const orders = await allOrders(parts.storage);
  const all = await Promise.all(orders.map((order) => settled(parts, order)));
  const after = await photograph(shownChain(parts.chain));
  return [
    ...brokenAddresses(parts, all, after),
    ...brokenTreasury(parts, all, after),
    ...(await brokenSponsor(parts, all, after)),
  ];
}

async function settled({ storage, chain }: BooksParts, order: StoredOrder): Promise<Settled> {
  const { view, transaction, recipients } = order;
  const attempts = await storage.attemptsOfAny(view.transfers.map(({ id }) => id));
  const assets = assetsOf(chain).map(({ line }) => line);
  return { order, books: booksOf({ ...view, transaction, recipients, attempts, assets }) };
}

/** As the rows and as the chain name an asset. */
const assetsOf = ({
  mints,
}: ChainReady): readonly { readonly line: string; readonly mint: string | null }[] => [
  { line: SOL_MINT, mint: null },
  { line: mints.USDC, mint: mints.USDC },
  { line: mints.USDT, mint: mints.USDT },
];

/** Over and idle, by itself, and empty but for crumbs that came when nothing was to be sent from it any more. */
function brokenAddresses(
  { chain, placed }: BooksParts,
  orders: readonly Settled[],
  after: Photograph,
): readonly string[] {
  const withCrumbs = new Set(
    placed.flatMap(({ deposit }) => (deposit?.late === BigInt(CRUMBS) ? [deposit.address] : [])),
  );
  return orders.flatMap(({ order: { view } }) => {
    const { id, address, state, overState } = view.order;
    const held = view.holds.filter(({ endedAt }) => endedAt === null).map(({ reason }) => reason);
    if (state !== "over" || overState !== "idle" || held.length > 0) {
      return [`P: ${id} is ${state}.${String(overState)} at the end, held: ${held.join()}`];
    }
    return assetsOf(chain).flatMap(({ mint }) => {
      const left = possession(after, address, mint);
      const isExplained =
        left === 0n || (mint === chain.mints.USDC && withCrumbs.has(address) && left === BigInt(CRUMBS));
      return isExplained ? [] : [`P: ${id} is over, and ${left} of ${mint ?? "SOL"} are left`];
    });
  });
}

/** I14: it has the fee of each order that was paid, once. */
function brokenTreasury(
  { chain, before }: BooksParts,
  orders: readonly Settled[],
  after: Photograph,
): readonly string[] {
  const { address } = chain.wallets.treasury;
  return assetsOf(chain).flatMap(({ line, mint }) => {
    const got = possession(after, address, mint) - possession(before, address, mint);
    const paid = orders.filter(({ order }) => order.terms.mint === line);
    const due = sumOf(paid.map(({ books }) => books.fee ?? 0n));
    return got === due ? [] : [`I14: the treasury got ${got} of ${line}, and on record are ${due}`];
  });
}

/**
 * I14: it has paid transaction fees, markers and the rent of accounts that still exist. Loans were paid back to it, and so was
 * the rent of each closed account of an order, whoever had opened that; and it has what refunds cost.
 */
async function brokenSponsor(
  { chain, placed, before }: BooksParts,
  orders: readonly Settled[],
  after: Photograph,
): Promise<readonly string[]> {
  const shown = shownChain(chain);
  const { address } = chain.wallets.sponsor;
  const burnt = (await feesBurnt(shown, [address], before.slot)).get(address) ?? 0n;
  let opened = 0n;
  const owners = new Set<string>([chain.wallets.treasury.address, address]);
  for (const { deposit, recipients } of placed) {
    if (deposit === null) continue;
    for (const recipient of recipients) owners.add(recipient.address);
    const account = associatedTokenAddress(deposit.address, chain.mints.USDC);
    opened += await lamportsFrom(shown, chain.faucet, account);
  }
  const old = new Set(before.accounts.map((account) => account.address));
  const standing = after.accounts
    .filter((account) => account.tokens !== null && owners.has(account.owner) && !old.has(account.address))
    .reduce((sum, { lamports }) => sum + lamports, 0n);
  const rents = orders.flatMap(({ order: { view, terms } }) =>
    view.chunks.flatMap(({ length }) => (length === null ? [] : [rentOf(terms.rentPerByte, length)])),
  );
  return assetsOf(chain).flatMap(({ line, mint }) => {
    const got = possession(after, address, mint) - possession(before, address, mint);
    const refunds = orders.flatMap(({ books }) => books.refunds.filter((refund) => refund.mint === line));
    const costs = sumOf(refunds.map(({ cost }) => cost));
    const due = costs + (mint === null ? opened - standing - sumOf(rents) - burnt : 0n);
    return got === due ? [] : [`I14: the sponsor got ${got} of ${line}, and by its books ${due}`];
  });
}

const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n);
