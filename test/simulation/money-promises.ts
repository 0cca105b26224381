/** What is promised of money that the service itself moves, by the chain's own books in a world that has come to rest. */
// modules: private, webhooks
import { SOL_MINT } from "../../src/core/address.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { booksOf as booksOfOrder, type OrderBooks } from "../../src/payments/private/order-books.ts";
import type { ReservationRecord } from "../../src/payments/frame/tables/limits.ts";
import type { OrderedTransaction } from "../../src/payments/private/tables.ts";
import { brokenMoney } from "../kit/check-money.ts";
import { CUSTOMER, DESK, SPONSOR, TREASURY } from "./house.ts";
import type { Asset, Order } from "./order.ts";
import type { Books, World } from "./world.ts";

/** The most that a refund costs its receiver: little more than a cent, in lamports and in millionths of a dollar. */
const mostPerRefund = (asset: Asset): bigint => (asset === "SOL" ? 75_000n : 11_250n);

/** One sentence per broken promise; empty when all hold, and where nothing was ordered. */
export async function brokenMoneyPromises(world: World): Promise<readonly string[]> {
  const { storage, fixture, orders } = world;
  const addresses = [...orders.values()].flatMap(({ deposit }) => deposit?.address ?? []);
  const mints = [fixture.mints.USDC, fixture.mints.USDT];
  const { funds } = await fixture.ledger.funds(addresses, mints, "finalized");
  const left = funds.map(({ lamports, tokens }) => [lamports, ...tokens]);
  return [
    ...(await brokenMoney({ storage, ledger: fixture.ledger, mints }, addresses)),
    ...left
      .filter((amounts) => amounts.some((amount) => amount !== 0n))
      .map((amounts) => `P18: a deposit address still holds ${amounts.join()}`),
    ...(await brokenBooks(world)),
    ...(await brokenReservations(world)),
  ];
}

/** Of each wallet, what it has gained; the sponsor's costs are nobody's promise. */
export async function booksOf(world: World): Promise<Books> {
  const payees = [...world.orders.values()].flatMap((order) => order.payees);
  const names = new Set([...world.wallets, ...payees]);
  names.delete(SPONSOR);
  return world.gains([...names]);
}

/** What was promised and told, against what everybody has gained. */
async function brokenBooks(world: World): Promise<string[]> {
  const broken: string[] = [];
  const due = new Map<string, bigint>();
  const add = (name: string, asset: Asset, amount: bigint): void => {
    due.set(`${asset} of ${name}`, (due.get(`${asset} of ${name}`) ?? 0n) + amount);
  };
  for (const [payment, order] of world.orders) {
    const { payees, asset, each, deposit, given } = order;
    const { fee, costs, refunds, paid } = await recordOf(world, payment, order);
    const isPaid = paid.length > 0;
    const returned = refunds.reduce((sum, amount) => sum + amount, 0n);
    for (const index of paid) add(payees[index] ?? "", asset, each);
    if (given !== undefined && isPaid) {
      add(DESK, given.asset, given.amount);
      add(DESK, asset, -each);
    }
    if (deposit === undefined) {
      if (given !== undefined && isPaid) add(CUSTOMER, given.asset, -given.amount - fee);
      continue;
    }
    add(CUSTOMER, deposit.asset, returned);
    add(TREASURY, deposit.asset, fee);
    if (fee !== (isPaid ? deposit.fee : 0n)) broken.push(`${payment} cost ${fee}, not ${deposit.fee}`);
    if (costs > mostPerRefund(deposit.asset) * BigInt(refunds.length)) {
      broken.push(`${refunds.length} refunds of ${payment} have cost ${costs}`);
    }
    const spent = isPaid ? (given?.amount ?? each * BigInt(paid.length)) : 0n;
    const came = world.deposited.get(payment) ?? 0n;
    const went = spent + fee + returned + costs;
    if (came !== went) broken.push(`E12: ${came} came for ${payment}, and ${went} went`);
  }
  const books = await booksOf(world);
  for (const [name, gains] of Object.entries(books)) {
    for (const [asset, gain] of Object.entries(gains)) {
      const owed = due.get(`${asset} of ${name}`) ?? 0n;
      if (gain !== owed) broken.push(`${name} has gained ${gain} ${asset} and was to gain ${owed}`);
    }
  }
  return broken;
}

/** How an order went, as the database has it. */
async function recordOf(
  { storage, taken, fixture }: World,
  payment: string,
  { deposit }: Order,
): Promise<{
  readonly fee: bigint;
  /** By the index of the recipient. */
  readonly paid: readonly number[];
  readonly refunds: readonly bigint[];
  /** What refunds cost, in the deposit's asset. */
  readonly costs: bigint;
}> {
  const view = await storage.orderedTransaction(taken.get(payment) ?? "");
  if (view === null) throw new Error(`${payment} is gone`);
  const isDone = view.transaction.status === "completed";
  const mint = deposit?.asset === "SOL" ? SOL_MINT : fixture.mints.USDC;
  const refunds = (await paidRefunds(storage, view)).filter((refund) => refund.mint === mint);
  return {
    fee: view.transaction.fee ?? 0n,
    // What callers sign pays everybody or nobody.
    paid: view.recipients
      .filter(({ status }) => (deposit === undefined ? isDone : status === "paid"))
      .map(({ index }) => index),
    refunds: refunds.map(({ amount }) => amount),
    costs: refunds.reduce((sum, { cost }) => sum + cost, 0n),
  };
}

/** What has gone back for an order of private mode, by its rows. */
export async function paidRefunds(
  storage: Pick<PaymentStorage, "attemptsOfAny">,
  { transaction, recipients, order }: OrderedTransaction,
): Promise<OrderBooks["refunds"]> {
  if (order === null) return [];
  const attempts = await storage.attemptsOfAny(order.transfers.map(({ id }) => id));
  const assets = order.levels.map(({ mint }) => mint);
  const { refunds } = booksOfOrder({ ...order, transaction, recipients, attempts, assets });
  return refunds.filter(({ status }) => status === "paid");
}

/** What an order has cost is spent; what counts against an account for a while after its order is over ends by itself. */
function isSetAside({ resource, lapsesAt }: ReservationRecord): boolean {
  if (resource.startsWith("costs of ")) return false;
  return !(resource.includes(" bound by ") && lapsesAt !== null);
}

/** What was set aside for an order, of the sponsor's or of the desk's, is given back when it is over. */
async function brokenReservations({ log, storage }: World): Promise<string[]> {
  const resources = new Set<string>();
  for (const { commit } of log.commits) {
    for (const write of commit.writes ?? []) {
      if (write.table === "reservations" && "insert" in write) resources.add(write.insert.resource);
    }
  }
  const left = await Promise.all([...resources].map((resource) => storage.reservations(resource)));
  return left
    .flat()
    .filter(isSetAside)
    .map(({ resource, amount }) => `${amount} of "${resource}" is still set aside`);
}
