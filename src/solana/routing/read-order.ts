/** Reads an order in one look: address, markers, and all accounts that may pay or be paid, from one block of each endpoint. */
import type { Address } from "../../core/address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type {
  MarkerTold,
  OrderQuery,
  OrderReading,
  OrderTold,
  TokenAccountTold,
  WalletTold,
} from "../../ledger/order-reading.ts";
import type { Commitment } from "../../ledger/reading.ts";
import { differ, noteDifference, toldAlike, weigh } from "../agree.ts";
import type { NodeContext } from "../ask.ts";
import { associatedTokenAccount, LONGEST_MARKER, markerOf, markerOwner } from "../derived-addresses.ts";
import type { Endpoint } from "../endpoint.ts";
import { expectShape } from "../endpoint-failure.ts";
import { MAX_SLOTS_BEHIND } from "../health.ts";
import { CLOCK_SYSVAR, RENT_SYSVAR, SYSTEM_PROGRAM, SYSVAR_OWNER, TOKEN_PROGRAM } from "../programs.ts";
import type { Account } from "../rpc/account.ts";
import { untilKnown } from "../rpc/until-known.ts";
import { readTokenAccount, isFrozen, lamportsIn } from "../token-accounts.ts";
import { readClock, type BlockTime } from "../accounts.ts";

/** See `RoutingLedger.readOrder`. */
export async function readOrder(
  nodes: NodeContext,
  query: OrderQuery,
  commitment: Commitment,
): Promise<Evidence<OrderReading>> {
  const keys = keysOf(query);
  const read = async (endpoint: Endpoint): Promise<OrderTold> => {
    const block = await untilKnown(nodes, () => accountsOfOneBlock(endpoint, keys, commitment));
    return toldIn(block, query, endpoint.name);
  };
  return await weigh(nodes, { of: "readOrder", question: read }, (all) => {
    const told = nearOneAnother(all, nodes.witnesses);
    // At processed each endpoint may be on a fork of its own.
    if (commitment !== "processed") noteMarkers(nodes, `the markers of ${query.address}`, told);
    return {
      witnesses: nodes.witnesses,
      told,
      rentPerByte: rentAgreed(nodes, told),
      markers: query.seeds.map((_, index) => markerAgreed(told, index, nodes.witnesses)),
    };
  });
}

/** The price of storage first, then each wallet with its associated accounts, the order's before all, then the markers. */
function keysOf({ address, mints, owners, seeds }: OrderQuery): readonly string[] {
  return [
    RENT_SYSVAR,
    ...[address, ...owners].flatMap((owner) => [
      owner,
      ...mints.map((mint) => associatedTokenAccount(owner, mint)),
    ]),
    ...seeds.map((seed) => markerOf(address, seed)),
  ];
}

interface Block extends BlockTime {
  /** In the order of the keys. */
  readonly accounts: readonly (Account | null)[];
}

// As much of each account as tells every length of a marker from every other; one that is longer is no outcome.
const MARKER_HEAD = { offset: 0, length: LONGEST_MARKER + 1 };

/**
 * Undefined where several calls met several blocks: what stands in two of them does not add up. All of an order is a
 * single call, unless the provider takes fewer accounts.
 */
async function accountsOfOneBlock(
  { rpc, accountsPerCall }: Endpoint,
  keys: readonly string[],
  commitment: Commitment,
): Promise<Block | undefined> {
  // The clock takes a place in each call.
  const perCall = Math.max(1, accountsPerCall - 1);
  const batches = Array.from({ length: Math.ceil(keys.length / perCall) }, (_, index) =>
    keys.slice(index * perCall, (index + 1) * perCall),
  );
  const read = batches.map(async (batch) => {
    const query = { commitment, dataSlice: MARKER_HEAD };
    const { slot, accounts: told } = await rpc.getMultipleAccounts([CLOCK_SYSVAR, ...batch], query);
    const [clock, ...accounts] = told;
    const moment = readClock(clock);
    expectShape(moment.slot === slot, "accounts of another block than their clock");
    return { ...moment, accounts };
  });
  const [first, ...others] = await Promise.all(read);
  if (first === undefined || others.some(({ slot }) => slot !== first.slot)) return undefined;
  return { ...first, accounts: [first, ...others].flatMap(({ accounts }) => accounts) };
}

function toldIn({ accounts, ...moment }: Block, query: OrderQuery, endpoint: string): OrderTold {
  const { address, mints, owners } = query;
  const [rent, ...others] = accounts;
  const stride = 1 + mints.length;
  const [order, ...wallets] = [address, ...owners].map((owner, index) =>
    walletIn(others.slice(index * stride, (index + 1) * stride), owner, mints),
  );
  expectShape(order !== undefined, "number of accounts");
  const makers = markerOwner(address);
  const markers = others.slice(stride * (1 + owners.length)).map((account) => markerIn(account, makers));
  return { ...moment, endpoint, rentPerByte: readRent(rent), order, owners: wallets, markers };
}

// Lamports of a byte and year, and for how many years an account has to hold them.
const YEARS_AT = 8;
const RENT_BYTES = 17;

/** Lamports of rent a byte, rounded up. Throws `EndpointFailure` when they are none: a marker without rent is no lock. */
function readRent(account: Account | null | undefined): bigint {
  const data = account?.owner === SYSVAR_OWNER ? account.data : undefined;
  expectShape(data?.length === RENT_BYTES, "rent");
  const perByte = Math.ceil(Number(data.readBigUInt64LE(0)) * data.readDoubleLE(YEARS_AT));
  expectShape(Number.isSafeInteger(perByte) && perByte > 0, "rent");
  return BigInt(perByte);
}

function walletIn(
  [wallet, ...accounts]: readonly (Account | null)[],
  owner: Address,
  mints: readonly Address[],
): WalletTold {
  return {
    lamports: lamportsIn(wallet),
    accounts: mints.map((mint, index) => tokenAccountIn(accounts[index], owner, mint)),
  };
}

function tokenAccountIn(
  account: Account | null | undefined,
  owner: Address,
  mint: Address,
): TokenAccountTold | null {
  const held = account?.owner === TOKEN_PROGRAM ? readTokenAccount(account.data) : null;
  if (!account || held?.mint !== mint) return null;
  const lamports = BigInt(account.lamports);
  if (held.owner !== owner) return { amount: 0n, lamports, state: "foreign" };
  return { amount: held.amount, lamports, state: isFrozen(account) ? "frozen" : "usable" };
}

/** Lamports alone make no marker: anybody may send them. */
function markerIn(account: Account | null, owner: Address): MarkerTold {
  if (account === null || (account.owner === SYSTEM_PROGRAM && account.data.length === 0)) return null;
  return account.owner === owner ? account.data.length : "foreign";
}

/**
 * Without the answers that are far from the slot that as many as must agree have reached, newest first: an endpoint that
 * is stuck, or claims to be far ahead, holds nothing up. All, where fewer are left.
 */
function nearOneAnother(told: readonly OrderTold[], witnesses: number): readonly OrderTold[] {
  const newestFirst = told.toSorted((one, other) => other.slot - one.slot);
  const reached = newestFirst[witnesses - 1]?.slot ?? 0;
  const near = newestFirst.filter(({ slot }) => Math.abs(slot - reached) <= MAX_SLOTS_BEHIND);
  return near.length >= witnesses ? near : newestFirst;
}

/** The value on which enough endpoints agree; undefined where nothing is, or more than one thing. */
function alike<T>(said: readonly T[], witnesses: number): T | undefined {
  const at = toldAlike(said, witnesses);
  return at === null ? undefined : said[at];
}

function markerAgreed(told: readonly OrderTold[], index: number, witnesses: number): MarkerTold | "disputed" {
  const said = told.map(({ markers }) => markers[index] ?? null);
  const agreed = alike(said, witnesses);
  return agreed === undefined ? "disputed" : agreed;
}

function rentAgreed(nodes: NodeContext, told: readonly OrderTold[]): bigint {
  const subject = "the rent of accounts";
  const agreed = alike(
    told.map(({ rentPerByte }) => rentPerByte),
    nodes.witnesses,
  );
  if (agreed === undefined) throw differ(nodes, subject, namesOf(told));
  nodes.disputes.end(subject);
  return agreed;
}

/** Notes a dispute where the markers that they tell cannot be those of one chain, until they can. */
function noteMarkers(nodes: NodeContext, subject: string, told: readonly OrderTold[]): void {
  const isDisputed = told.some((one) => told.some((other) => contradicts(one, other)));
  if (isDisputed) noteDifference(nodes, subject, namesOf(told));
  else nodes.disputes.end(subject);
}

/** A marker that stands in one block stands in all later ones, as it was made. */
function contradicts(earlier: OrderTold, later: OrderTold): boolean {
  return earlier.markers.some((before, index) => {
    const after = later.markers[index] ?? null;
    if (before === null || before === after) return false;
    return after !== null || later.slot >= earlier.slot;
  });
}

function namesOf(told: readonly OrderTold[]): readonly string[] {
  return told.map(({ endpoint }) => endpoint);
}
