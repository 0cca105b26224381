/**
 * The books of a life in which every node may have lied. What the database believes may have been wrong; what is on the
 * chain must be right, and where the two differ, the reconciliation must say so.
 */
// modules: private
import { brokenMoney } from "../../kit/check-money.ts";
import { brokenPayee, brokenWord } from "./accounts-of-a-send.ts";
import { brokenAmounts, brokenStory, givenToDesk, keptOf } from "./accounts-of-an-order.ts";
import type { Books } from "./books.ts";
import type { LivedOrder } from "./lived-order.ts";
import type { LivedSend } from "./lived-send.ts";
import { ASSETS } from "./random-life.ts";

/** What of any asset is too little to be sent anywhere. */
const MAX_DUST = { SOL: 3_000_000n, USDC: 500_000n, USDT: 500_000n } as const;

/** One sentence for each thing that is wrong on the chain, or wrong in the database without a word. */
export async function brokenUnderLies(books: Books): Promise<readonly string[]> {
  const { orders, sends, service, past } = books;
  const { findings, wallet } = await service.reconcile();
  const matters = await service.operator.attention();
  const told = new Set<string>([
    ...findings.flatMap(({ transactionId, findings: found }) => (found.length === 0 ? [] : [transactionId])),
    ...wallet.findings.map(({ transactionId }) => transactionId),
    ...matters.flatMap(({ transactionId = [] }) => transactionId),
    // What a person has looked after was told before.
    ...past.told.map(({ order }) => order),
  ]);
  const ofOrders = await Promise.all(orders.map((order) => brokenOrder(books, order, told)));
  const ofSends = await Promise.all(sends.map((send) => brokenSend(books, send, told)));
  return [...brokenHouse(books), ...ofOrders.flat(), ...ofSends.flat()];
}

/** `told` are those of which the reconciliation says something. */
async function brokenOrder(
  books: Books,
  order: LivedOrder,
  told: ReadonlySet<string>,
): Promise<readonly string[]> {
  const { storage, service, caller, world, has, past } = books;
  const broken = brokenAmounts(books, order);
  const isTold = told.has(order.id);
  for (const asset of ASSETS) {
    const left = has(order.address, asset);
    if (left > MAX_DUST[asset] && !isTold) {
      broken.push(`${left} ${asset} are stuck at its address, and nothing says so`);
    }
    // What came for it is all that was ever spent for it, but for the sponsor's loans.
    const kept = keptOf(books, order, asset);
    if (asset !== "SOL" && kept < 0n) broken.push(`${-kept} ${asset} more went than came`);
  }
  if ((await storage.transaction(order.id)) === null) return broken;
  const shown = await service.transaction(caller, order.id);
  const { USDC, USDT } = world.mints;
  const wrong = [
    ...brokenStory(books, order, shown),
    ...(past.wasRestored || past.hadCopies
      ? []
      : await brokenMoney({ storage, ledger: world.ledger, mints: [USDC, USDT] }, [order.address])),
  ];
  if (wrong.length > 0 && !isTold) broken.push(`nothing says: ${wrong.join("; ")}`);
  return broken.map((sentence) => `order ${order.id} (${shown.status}): ${sentence}`);
}

async function brokenSend(
  books: Books,
  send: LivedSend,
  told: ReadonlySet<string>,
): Promise<readonly string[]> {
  const wrong = told.has(send.taken?.id ?? "") ? [] : await brokenWord(books, send);
  return [...brokenPayee(books, send), ...wrong.map((each) => `nothing says: ${each}`)];
}

/** What came and is neither with payees and senders nor at an address is with treasury, sponsor and desk, and nothing else is. */
function brokenHouse(books: Books): readonly string[] {
  const { orders, gain, world } = books;
  return (["USDC", "USDT"] as const).flatMap((asset) => {
    const house = [world.treasury.address, world.sponsor.address, world.desk];
    const got = house.reduce((sum, address) => sum + gain(address, asset), 0n);
    const kept = orders.reduce(
      (sum, order) => sum + keptOf(books, order, asset) + givenToDesk(books, order, asset),
      0n,
    );
    return got === kept ? [] : [`treasury, sponsor and desk got ${got} ${asset}, and ${kept} were kept`];
  });
}
