/**
 * The books of everybody in a life that is over. Who has what is read from the chain, and what should be from what was
 * ordered and paid in; our own database is asked whether it says the same.
 */
import type { Address } from "../../../src/address.ts";
import { depositKeys } from "../../../src/payments/secrets/deposit-keys.ts";
import { brokenMoney } from "../../kit/check-money.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import type { Reconciliation } from "../../../src/payments/reconcile/reconcile.ts";
import { brokenOrder, isSenderFrozen, keptOf } from "./accounts-of-an-order.ts";
import { brokenSend } from "./accounts-of-a-send.ts";
import { brokenUnderLies } from "./accounts-under-lies.ts";
import { openBooks, type Books } from "./books.ts";
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
  const verdict = past.wasDeceived ? brokenUnderLies(books) : brokenInTruth(books);
  return [
    ...brokenSums(books, burnt),
    ...strangers(books),
    ...(past.wasRestored ? [] : await brokenSponsor(books, burnt)),
    ...(await verdict),
  ];
}

/** Where nothing untrue was ever believed, everything is as it is told. */
async function brokenInTruth(books: Books): Promise<readonly string[]> {
  const { world, orders, sends, storage, service, past } = books;
  const { ledger, mints } = world;
  const ofOrders = await Promise.all(orders.map((order) => brokenOrder(books, order)));
  const ofSends = await Promise.all(sends.map((send) => brokenSend(books, send)));
  const reconciled = await service.reconcile();
  const { disputes } = await service.health();
  // What another self of the database has done has no line in this one.
  const ofOurs = past.wasRestored
    ? []
    : await brokenMoney(
        { storage, ledger, mints: [mints.USDC, mints.USDT] },
        orders.map(({ address }) => address),
      );
  return [
    ...ofOrders.flat(),
    ...ofSends.flat(),
    ...(await brokenTreasury(books)),
    ...ofOurs,
    ...unexplained(books, reconciled),
    ...(disputes === 0 ? [] : [`${disputes} disputes outlive the lies`]),
  ];
}

type Burnt = ReadonlyMap<string, bigint>;

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

/** Whoever has anything is somebody who takes part; and no marker is left behind without a reason. */
function strangers({ world, orders, sends, before, after, past }: Books): readonly string[] {
  const known = new Set<string>([
    ...before.accounts.map(({ owner }) => owner),
    ...orders.flatMap(({ address, sender, payees }) => [
      address,
      sender.address,
      ...payees.map(({ wallet }) => wallet.address),
    ]),
    ...sends.flatMap(({ sender, payee }) => [sender.address, payee.address]),
  ]);
  const keys = depositKeys([TEST_MASTER_SECRET], () => world.chain.genesisHash);
  const markers = new Set<string>(
    orders.flatMap(({ address, id, markerWords }) =>
      [...markerWords].map((words) => {
        const seed = keys.seed({ masterVersion: 1, transactionId: id }, words);
        return world.ledger.markerAddress(address as Address, seed);
      }),
    ),
  );
  // Those of another self of the database stay, and those of an address that waits for its operator.
  const mayStay = past.wasRestored || orders.some(isSenderFrozen);
  return after.accounts.flatMap(({ address, owner, lamports, tokens }) => {
    const isMarker = markers.has(address);
    // Lamports that a stranger gives where no marker is, or is no more, are nobody's account of tokens.
    const isGift = tokens === null;
    if (isMarker ? mayStay || isGift : known.has(owner)) return [];
    return [`${address} has ${lamports} lamports, and is ${isMarker ? "a marker" : "nobody's"}`];
  });
}

/** The treasury has what all orders have kept, and the lines of their addresses say so. */
async function brokenTreasury(books: Books): Promise<readonly string[]> {
  const { world, orders, storage, past, gain, nameOf } = books;
  const { wasRestored } = past;
  const lines = (await Promise.all(orders.map(({ address }) => storage.entries(address)))).flat();
  return ASSETS.flatMap((asset) => {
    const got = gain(world.treasury.address, asset);
    const kept = orders.reduce((sum, order) => sum + keptOf(books, order, asset), 0n);
    const recorded = lines
      .filter(({ kind, mint }) => (kind === "fee" || kind === "dust") && mint === nameOf(asset))
      .reduce((sum, { amount }) => sum + amount, 0n);
    // The sponsor's loans stay where an address is held, and those of another self of the database are taken for dust.
    const isWithoutLoans = asset !== "SOL" || !(wasRestored || orders.some(isSenderFrozen));
    return [
      ...(got !== kept && isWithoutLoans ? [`the treasury got ${got} ${asset}, and ${kept} were kept`] : []),
      ...(got !== recorded && !wasRestored
        ? [`the treasury got ${got} ${asset}, and ${recorded} are on record`]
        : []),
    ];
  });
}

/** The sponsor has spent its fees, and rent of accounts that are there: nobody has grown rich on its lamports. */
async function brokenSponsor(books: Books, fees: Burnt): Promise<readonly string[]> {
  const { world, orders, before, after, gain, past } = books;
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
  const given = past.wasDeceived ? await loansTo(books) : 0n;
  const explained = (fees.get(address) ?? 0n) + rent + given;
  const lost = -gain(address, "SOL");
  return lost > explained ? [`the sponsor has lost ${lost} lamports, ${explained} of them for a reason`] : [];
}

/**
 * What the sponsor has lent to the addresses of all orders. Where every node overstates a balance alike, a refund takes
 * along what else lies at its address: the order's fee and these loans, and nothing of another order.
 */
async function loansTo({ orders, storage }: Books): Promise<bigint> {
  const entries = await Promise.all(orders.map(({ address }) => storage.entries(address)));
  return entries
    .flat()
    .filter(({ kind }) => kind === "loan")
    .reduce((sum, { amount }) => sum + amount, 0n);
}

/** What our own reconciliation cannot explain, but for addresses that the service refuses to let go of. */
function unexplained(
  { orders, past }: Books,
  { findings, wallet, purses }: Reconciliation,
): readonly string[] {
  const refused = new Set<string>(orders.filter(({ isRefused }) => isRefused).map(({ address }) => address));
  const ofAddresses = findings
    .filter(({ address }) => !refused.has(address))
    .flatMap(({ transactionId, findings: found }) =>
      found.filter(({ finding }) => !EXPLAINED.has(finding)).map((each) => ({ transactionId, ...each })),
    );
  const ofPurses = past.wasRestored
    ? []
    : purses.flatMap(({ address, unknownSignatures }) =>
        unknownSignatures.map((signature) => ({ address, signature })),
      );
  return [...ofAddresses, ...wallet.findings, ...ofPurses].map(
    (each) => `the reconciliation finds ${JSON.stringify(each)}`,
  );
}

/** They wait for an operator, or for nobody. */
const EXPLAINED: ReadonlySet<string> = new Set(["held", "unclaimed", "other_mint"]);
