/**
 * The books of a life in which every node may have lied. What the database believes may have been wrong; what is on the
 * chain must be right, and where the two differ, the reconciliation must say so.
 */
import { brokenMoney } from "../../kit/check-money.ts";
import { brokenStory, keptOf } from "./accounts-of-an-order.ts";
import { brokenSponsor, brokenSums, strangers } from "./accounts-of-everybody.ts";
import { openBooks, type Books } from "./books.ts";
import type { LivedUnderLies } from "./live-under-lies.ts";
import type { LivedOrder } from "./lived-order.ts";
import { feesBurnt } from "./photograph.ts";
import { ASSETS } from "./random-life.ts";

/** What of any asset is too little to be sent anywhere. */
const MAX_DUST = { SOL: 3_000_000n, USDC: 500_000n, USDT: 500_000n } as const;

/** One sentence for each thing that does not add up; empty when everything does. */
export async function brokenUnderLies(life: LivedUnderLies): Promise<readonly string[]> {
  const books = await openBooks(life);
  const { world, orders, before, payers, service } = books;
  const { chain, sponsor } = world;
  const spenders = [sponsor, chain.faucet, ...payers].map(({ address }) => address);
  const burnt = await feesBurnt(chain, spenders, before.slot);
  const reconciled = await service.reconcile();
  const told = new Set(
    reconciled.findings.flatMap(({ address, findings }) => (findings.length === 0 ? [] : [address])),
  );
  const ofOrders = await Promise.all(orders.map((order) => brokenOrder(books, life, { order, told })));
  return [
    ...brokenSums(books, burnt),
    ...strangers(books),
    ...brokenSponsor(books, burnt),
    ...brokenHouse(books, life),
    ...ofOrders.flat(),
  ];
}

interface OrderTold {
  readonly order: LivedOrder;
  /** The addresses of which the reconciliation says something. */
  readonly told: ReadonlySet<string>;
}

async function brokenOrder(
  books: Books,
  life: LivedUnderLies,
  { order, told }: OrderTold,
): Promise<string[]> {
  const { storage, service, caller, world, gain, has } = books;
  const broken: string[] = [];
  for (const [index, { wallet, amount }] of order.payees.entries()) {
    for (const asset of ASSETS) {
      const got = gain(wallet.address, asset);
      const isRight = got === 0n || (asset === order.words.asset && got === amount);
      if (isRight) continue;
      broken.push(`recipient ${index} is due ${amount} ${order.words.asset} and got ${got} ${asset}`);
    }
  }
  const promised = life.promised.get(order.sender.address);
  const swapped = gain(order.sender.address, "USDC");
  if (promised !== undefined && swapped !== 0n && swapped !== promised) {
    broken.push(`the swap was promised ${promised} and got ${swapped} USDC`);
  }
  for (const asset of ASSETS) {
    const back = gain(order.sender.address, asset);
    if (back < 0n) broken.push(`its sender has lost ${-back} ${asset}`);
    const left = has(order.address, asset);
    if (left > MAX_DUST[asset] && !told.has(order.address)) {
      broken.push(`${left} ${asset} are stuck at its address, and nothing says so`);
    }
    // What came for it is all that was ever spent for it, but for the sponsor's loans.
    const kept = keptOf(books, order, asset);
    const isShort = asset !== "SOL" && promised === undefined && kept < 0n;
    if (isShort) broken.push(`${-kept} ${asset} more went than came`);
  }
  const shown = await service.transaction(caller, order.id);
  const wrong = [
    ...brokenStory(books, order, shown),
    ...(await brokenMoney({ storage, ledger: world.ledger, mints: [world.mints.USDC, world.mints.USDT] }, [
      order.address,
    ])),
  ];
  if (wrong.length > 0 && !told.has(order.address)) broken.push(`nothing says: ${wrong.join("; ")}`);
  return broken.map((sentence) => `order ${order.id} (${shown.status}): ${sentence}`);
}

/** What came and is neither with payees and senders nor at an address is with the treasury and the desk, and nothing else is. */
function brokenHouse(books: Books, { world }: LivedUnderLies): readonly string[] {
  const { orders, gain } = books;
  return (["USDC", "USDT"] as const).flatMap((asset) => {
    const got = gain(world.treasury.address, asset) + gain(world.desk, asset);
    const kept = orders.reduce((sum, order) => sum + keptOf(books, order, asset), 0n);
    return got === kept ? [] : [`treasury and desk got ${got} ${asset}, and ${kept} were kept`];
  });
}
