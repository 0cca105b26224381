/**
 * The books of everybody in a life that is over. Who has what is read from the chain, and what should be from what was
 * ordered and paid in; our own database is asked whether it says the same.
 */
// modules: private
import type { Address } from "../../../src/core/address.ts";
import { brokenMoney } from "../../kit/check-money.ts";
import type { Reconciliation } from "../../../src/service/reconcile-service.ts";
import { brokenOrder, feesOf, keptOf, wasRobbed } from "./accounts-of-an-order.ts";
import { brokenSend } from "./accounts-of-a-send.ts";
import { brokenUnderLies } from "./accounts-under-lies.ts";
import { openBooks, type Books } from "./books.ts";
import { mattersOf } from "./come-to-rest.ts";
import type { LivedLife } from "./live-through.ts";
import { feesBurnt, type Photograph } from "./photograph.ts";
import { ASSETS } from "./random-life.ts";

/** One sentence for each thing that does not add up; empty when everything does. */
export async function brokenAccounts(life: LivedLife): Promise<readonly string[]> {
  const books = await openBooks(life);
  const { world, before, outsiders, past } = books;
  const { chain, sponsor } = world;
  const spenders = [sponsor, chain.faucet, ...outsiders].map(({ address }) => address);
  const burnt = await feesBurnt(chain, spenders, before.slot);
  const verdict = past.wasDeceived ? brokenUnderLies(books) : brokenInTruth(books, burnt);
  return [...brokenSums(books, burnt), ...strangers(books), ...(await verdict)];
}

type Burnt = ReadonlyMap<string, bigint>;

/** Where nothing untrue was ever believed, everything is as it is told. */
async function brokenInTruth(books: Books, burnt: Burnt): Promise<readonly string[]> {
  const { world, orders, sends, storage, service, past } = books;
  const { ledger, mints } = world;
  const ofOrders = await Promise.all(orders.map((order) => brokenOrder(books, order)));
  const ofSends = await Promise.all(sends.map((send) => brokenSend(books, send)));
  const reconciled = await service.reconcile();
  const { disputes } = await service.health();
  // What another self of the database or a thief has done has no line in this one.
  const own = past.wasRestored || past.hadCopies ? [] : orders.filter((order) => !wasRobbed(order));
  const ofOurs = await brokenMoney(
    { storage, ledger, mints: [mints.USDC, mints.USDT] },
    own.map(({ address }) => address),
  );
  return [
    ...ofOrders.flat(),
    ...ofSends.flat(),
    ...brokenHouse(books),
    ...(past.wasRestored || past.hadCopies ? [] : brokenSponsor(books, burnt)),
    ...ofOurs,
    ...(await unexplained(books, reconciled)),
    ...(disputes === 0 ? [] : [`${disputes} disputes outlive the lies`]),
  ];
}

/** Nothing comes from nowhere and nothing goes there: what all accounts of the chain hold together, and what it burnt. */
function brokenSums({ before, after, mintOf }: Books, fees: Burnt): readonly string[] {
  const burnt = [...fees.values()].reduce((sum, each) => sum + each, 0n);
  return ASSETS.flatMap((asset) => {
    const gone = allOf(before, mintOf(asset)) - allOf(after, mintOf(asset));
    const expected = asset === "SOL" ? burnt : 0n;
    return gone === expected ? [] : [`${gone} ${asset} are gone from the chain, and ${expected} were burnt`];
  });
}

/** Rent counts as lamports of the account that it keeps. */
function allOf({ accounts }: Photograph, mint: string | null): bigint {
  return accounts.reduce((sum, { tokens, lamports }) => {
    if (mint === null) return sum + lamports;
    return tokens?.mint === mint ? sum + tokens.amount : sum;
  }, 0n);
}

/** Whoever has anything is somebody who takes part, or the marker of an order. */
function strangers({ world, orders, sends, before, after }: Books): readonly string[] {
  const markers = orders.flatMap(({ address }) =>
    ["0", "1", ...Array.from({ length: 10 }, (_, n) => `r${n}`)].map((seed) =>
      world.ledger.markerOf(address as Address, seed),
    ),
  );
  const known = new Set<string>([
    ...before.accounts.map(({ owner }) => owner),
    ...markers,
    ...orders.flatMap(({ address, sender, payees }) => [
      address,
      sender.address,
      ...payees.map(({ wallet }) => wallet.address),
    ]),
    ...sends.flatMap(({ sender, payee }) => [sender.address, payee.address]),
  ]);
  return after.accounts
    .filter(({ owner }) => !known.has(owner))
    .map(({ address, lamports }) => `${address} has ${lamports} lamports, and is nobody's`);
}

/** What all orders have kept is with the treasury, which has the fees, and the sponsor, who bears what refunds cost. */
function brokenHouse(books: Books): readonly string[] {
  const { world, orders, gain } = books;
  return ASSETS.flatMap((asset) => {
    const fees = gain(world.treasury.address, asset);
    const [least, most] = orders
      .map((order) => feesOf(books, order, asset))
      .reduce((sums, each) => [sums[0] + each[0], sums[1] + each[1]], [0n, 0n]);
    const kept = orders.reduce((sum, order) => sum + keptOf(books, order, asset), 0n);
    const costs = gain(world.sponsor.address, asset);
    return [
      ...(fees < least || fees > most
        ? [`the treasury got ${fees} ${asset}, and fees were ${least} to ${most}`]
        : []),
      ...(asset !== "SOL" && fees + costs !== kept
        ? [`treasury and sponsor got ${fees} and ${costs} ${asset}, and ${kept} were kept`]
        : []),
      ...(asset !== "SOL" && costs < 0n ? [`the sponsor has lost ${-costs} ${asset}`] : []),
    ];
  });
}

/** Lamports of a dollar's millionth, at the price of all lives: SOL at $150. */
const inLamports = (units: bigint): bigint => (units * 20n) / 3n;

/**
 * The sponsor has spent its fees, and rent of accounts that are there: nobody has grown rich on its lamports but a thief. What an
 * account of an order costs above the rent of its time comes back in tokens.
 */
function brokenSponsor({ world, orders, before, after, gain, past }: Books, fees: Burnt): readonly string[] {
  const { address } = world.sponsor;
  const old = new Set(before.accounts.map((account) => account.address));
  const people = new Set<string>(
    orders
      .flatMap(({ sender, payees }) => [sender, ...payees.map(({ wallet }) => wallet)])
      .map((wallet) => wallet.address),
  );
  const rent = after.accounts
    .filter(
      (account) => !old.has(account.address) && !(account.tokens === null && people.has(account.address)),
    )
    .reduce((sum, { lamports }) => sum + lamports, 0n);
  // A loan is twice the rent of an empty account.
  const loans = BigInt(orders.filter(wasRobbed).length) * 2n * 128n * past.dearestByte;
  const inTokens = inLamports(gain(address, "USDC") + gain(address, "USDT"));
  const explained = (fees.get(address) ?? 0n) + rent + loans + inTokens;
  const lost = -gain(address, "SOL");
  return lost > explained ? [`the sponsor has lost ${lost} lamports, ${explained} of them for a reason`] : [];
}

/** What our own reconciliation cannot explain, but for orders that still wait for a person. */
async function unexplained(
  { orders, past, service }: Books,
  { findings, wallet, purses }: Reconciliation,
): Promise<readonly string[]> {
  const waiting = new Set<string>();
  for (const order of orders) {
    if ((await mattersOf(service.operator, order)).length > 0) waiting.add(order.id);
  }
  const ofAddresses = findings
    .filter(({ transactionId }) => !waiting.has(transactionId))
    .flatMap(({ transactionId, findings: found }) =>
      found.filter(({ finding }) => !EXPLAINED.has(finding)).map((each) => ({ transactionId, ...each })),
    );
  const ofPurses =
    past.wasRestored || past.hadCopies
      ? []
      : purses.flatMap(({ address, unknownSignatures }) =>
          unknownSignatures.map((signature) => ({ address, signature })),
        );
  return [...ofAddresses, ...wallet.findings, ...ofPurses].map(
    (each) => `the reconciliation finds ${JSON.stringify(each)}`,
  );
}

/** They wait for an operator, or for nobody. */
const EXPLAINED: ReadonlySet<string> = new Set(["held", "uncounted", "other_mint"]);
