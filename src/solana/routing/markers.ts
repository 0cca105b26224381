/** Reads the markers of payments, as all witnesses agree: the fate of a payment, by its marker alone. */
import { type Address, addressOf, SOL_MINT } from "../../address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { Reading } from "../../ledger/reading.ts";
import { type Marker, type MarkersReading, TOKEN_ACCOUNT_BYTES } from "../../ledger/routing.ts";
import { weigh, noteDifference } from "../agree.ts";
import type { NodeContext, EndpointCall } from "../ask.ts";
import { expectShape } from "../endpoint-failure.ts";
import type { Endpoint } from "../endpoint.ts";
import { saidByMoving } from "../agreement.ts";
import { ACCOUNT_HEAD, CLOCK_SYSVAR, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../programs.ts";
import { readClock, type BlockTime, agreedHeight, finalizedEnd } from "./heights.ts";
import { markerAddress } from "../associated-token-account.ts";
import type { Account } from "../rpc/account.ts";
import { readTokenAccount } from "../token-accounts.ts";

/** See `RoutingLedger.markers`. */
export async function markers(
  nodes: NodeContext,
  base: Address,
  seeds: readonly string[],
): Promise<Evidence<MarkersReading>> {
  const addresses = seeds.map((seed) => markerAddress(base, seed));
  return await weigh(nodes, markersAt(addresses, base), (all) => {
    const told = saidByMoving(nodes, all);
    noteMarkers(nodes, `the markers of ${base}`, told);
    const heights = told.map(({ blockHeight }) => blockHeight);
    return {
      ...oldestOf(told),
      blockHeight: agreedHeight(nodes, heights),
      blockTime: Math.min(...told.map(({ blockTime }) => blockTime)),
      markers: seeds.map((_, index) => alike(told.map((each) => each.markers[index]))),
      unmadeAt: seeds.map((_, index) => highestUnmade(told, index)),
    };
  });
}

function oldestOf(told: readonly EndpointMarkersReading[]): Reading {
  const { slot, endpoint } = told.reduce((one, other) => (other.slot < one.slot ? other : one));
  return { slot, endpoint };
}

function highestUnmade(told: readonly EndpointMarkersReading[], index: number): number {
  const unmade = told.filter(({ markers: each }) => each[index] === "unmade");
  return Math.max(-1, ...unmade.map(({ blockHeight }) => blockHeight));
}

/** Accounts of one base address, to be read in a block of this slot or a later one. */
interface MarkerBatch {
  readonly addresses: readonly Address[];
  readonly base: Address;
  readonly minContextSlot: number;
}

/** Markers as one endpoint reports them: reads the finalized slot first, then the accounts at that slot or later. */
function markersAt(addresses: readonly Address[], base: Address): EndpointCall<EndpointMarkersReading> {
  return async (endpoint) => {
    const { name, accountsPerCall } = endpoint;
    const { slot, blockHeight } = await finalizedEnd(endpoint);
    // The clock takes the place of one account.
    const markersPerCall = Math.max(1, accountsPerCall - 1);
    const batches: BatchReading[] = [];
    let start = 0;
    do {
      const batch = addresses.slice(start, start + markersPerCall);
      batches.push(await readBatch(endpoint, { addresses: batch, base, minContextSlot: slot }));
      start += markersPerCall;
    } while (start < addresses.length);
    return {
      slot: Math.min(...batches.map((batch) => batch.slot)),
      endpoint: name,
      blockHeight,
      blockTime: Math.min(...batches.map(({ blockTime }) => blockTime)),
      markers: batches.flatMap((batch) => batch.markers),
    };
  };
}

interface BatchReading extends BlockTime {
  readonly markers: readonly Marker[];
}

async function readBatch(
  { rpc }: Endpoint,
  { addresses, base, minContextSlot }: MarkerBatch,
): Promise<BatchReading> {
  const query = { commitment: "finalized", minContextSlot, dataSlice: ACCOUNT_HEAD } as const;
  const { slot, accounts: told } = await rpc.getMultipleAccounts([CLOCK_SYSVAR, ...addresses], query);
  const [clock, ...accounts] = told;
  const moment = readClock(clock);
  expectShape(moment.slot === slot, "accounts of another block than their clock");
  return { ...moment, markers: accounts.map((account) => markerIn(account, base)) };
}

/**
 * The marker that all answers agree on. Lamports are not compared: otherwise a stranger could keep the reading in
 * dispute by sending a lamport in every block.
 */
function alike(told: readonly (Marker | undefined)[]): Marker {
  const [first = "disputed", ...others] = told;
  return others.reduce<Marker>((sofar, other) => common(sofar, other ?? "disputed"), first);
}

function common(one: Marker, other: Marker): Marker {
  if (typeof one === "string" || typeof other === "string") return one === other ? one : "disputed";
  if (one.delegate !== other.delegate) return "disputed";
  return one.lamports < other.lamports ? one : other;
}

type EndpointMarkersReading = Omit<MarkersReading, "unmadeAt">;

/** Notes a dispute where they do, until they tell the markers of this subject alike. */
function noteMarkers(nodes: NodeContext, subject: string, told: readonly EndpointMarkersReading[]): void {
  const isDisputed = told.length > 1 && told.some((one) => told.some((other) => contradicts(one, other)));
  const names = told.map(({ endpoint }) => endpoint);
  if (isDisputed) noteDifference(nodes, subject, names);
  else nodes.disputes.end(subject);
}

/** A marker that exists in one block also exists in later blocks, and is always replaced by the same plan. */
function contradicts(earlier: EndpointMarkersReading, later: EndpointMarkersReading): boolean {
  return earlier.markers.some((before, index) => {
    const after = later.markers[index] ?? "disputed";
    if (before === "disputed") return true;
    if (before === "unmade") return false;
    if (typeof after === "string") return after === "unmade" && earlier.slot <= later.slot;
    return before.delegate !== after.delegate && earlier.slot <= later.slot;
  });
}

// The delegate of a token account: a tag of four bytes, and the key.
const DELEGATE_TAG_AT = 72;
const DELEGATE_AT = 76;
const DELEGATE_END = 108;
const NO_DELEGATE = 0;
const A_DELEGATE = 1;

// The state byte of a token account: 0 not initialised, 1 in use, 2 frozen.
const STATE_AT = 108;
const IN_USE = 1;

/**
 * A marker of `base` as one endpoint reports it. Lamports without data make no marker. Any other account is impossible
 * at such an address, so the endpoint is wrong: `disputed`.
 */
function markerIn(account: Account | null | undefined, base: Address): Marker {
  if (account === null || account === undefined) return "unmade";
  const { data, lamports } = account;
  const program = account.owner;
  if (program === SYSTEM_PROGRAM && data.length === 0) return "unmade";
  if (program !== TOKEN_PROGRAM || data.length !== TOKEN_ACCOUNT_BYTES) return "disputed";
  const held = readTokenAccount(data);
  if (held?.mint !== SOL_MINT || held.owner !== base || data[STATE_AT] !== IN_USE) return "disputed";
  expectShape(Number.isInteger(lamports) && lamports > 0, "balance");
  switch (data.readUInt32LE(DELEGATE_TAG_AT)) {
    case NO_DELEGATE:
      return { delegate: null, lamports: BigInt(lamports) };
    case A_DELEGATE: {
      const delegate = addressOf(data.subarray(DELEGATE_AT, DELEGATE_END));
      return { delegate, lamports: BigInt(lamports) };
    }
    default:
      return "disputed";
  }
}
