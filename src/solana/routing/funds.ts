/** Reads the balances of many addresses, a batch at a time from one block, with the block's time. */
import type { Address } from "../../core/address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { FirmCommitment } from "../../ledger/ledger.ts";
import type { Funds, FundsReading } from "../../ledger/routing.ts";
import { weigh } from "../agree.ts";
import type { NodeContext, EndpointCall } from "../ask.ts";
import { expectShape } from "../endpoint-failure.ts";
import type { Endpoint } from "../endpoint.ts";
import { associatedTokenAccount } from "../derived-addresses.ts";
import { ACCOUNT_HEAD, CLOCK_SYSVAR } from "../programs.ts";
import type { Account } from "../rpc/account.ts";
import { readClock, type BlockTime } from "../accounts.ts";
import { lamportsIn, unitsIn } from "../token-accounts.ts";
import { MAX_SLOTS_BEHIND } from "../health.ts";

/** The addresses, mints and commitment of the question. */
interface FundsQuery {
  readonly addresses: readonly Address[];
  readonly mints: readonly Address[];
  readonly commitment: FirmCommitment;
}

/** See `RoutingLedger.funds`. */
export async function funds(nodes: NodeContext, asked: FundsQuery): Promise<Evidence<FundsReading>> {
  return await weigh(nodes, { of: "funds", question: readFunds(asked) }, (told) =>
    vouchedFor(told, asked, nodes.witnesses),
  );
}

function vouchedFor(
  told: readonly FundsReading[],
  { addresses, mints }: FundsQuery,
  witnesses: number,
): FundsReading {
  const answers = told.map((reading) => ({
    ...reading,
    amounts: reading.funds.flatMap(({ lamports, tokens }) => [lamports, ...tokens]),
  }));
  const { counted, oldest, amounts } = agreedBalances(answers, witnesses);
  const stride = 1 + mints.length;
  return {
    slot: oldest.slot,
    blockTime: Math.min(...counted.map(({ blockTime }) => blockTime)),
    endpoint: oldest.endpoint,
    funds: addresses.map((_, index) => {
      const from = index * stride;
      const [lamports = 0n, ...tokens] = amounts.slice(from, from + stride);
      return { lamports, tokens };
    }),
  };
}

/** One endpoint's reading. An address and its token accounts are always in the same batch. */
function readFunds({ addresses, mints, commitment }: FundsQuery): EndpointCall<FundsReading> {
  const accountsPerAddress = 1 + mints.length;
  return async (endpoint) => {
    const addressesPerCall = Math.max(1, Math.floor((endpoint.accountsPerCall - 1) / accountsPerAddress));
    const batches: BatchReading[] = [];
    let start = 0;
    do {
      const batch = { addresses: addresses.slice(start, start + addressesPerCall), mints, commitment };
      batches.push(await readBatch(endpoint, batch));
      start += addressesPerCall;
    } while (start < addresses.length);
    return {
      slot: Math.min(...batches.map(({ slot }) => slot)),
      blockTime: Math.min(...batches.map(({ blockTime }) => blockTime)),
      endpoint: endpoint.name,
      funds: batches.flatMap((batch) => batch.funds),
    };
  };
}

interface BatchReading extends BlockTime {
  readonly funds: readonly Funds[];
}

async function readBatch(
  { rpc }: Endpoint,
  { addresses, mints, commitment }: FundsQuery,
): Promise<BatchReading> {
  const asked = addresses.flatMap((owner) => [
    owner,
    ...mints.map((mint) => associatedTokenAccount(owner, mint)),
  ]);
  const { slot, accounts: told } = await rpc.getMultipleAccounts([CLOCK_SYSVAR, ...asked], {
    commitment,
    dataSlice: ACCOUNT_HEAD,
  });
  const [clock, ...accounts] = told;
  const moment = readClock(clock);
  // An answer put together from several blocks proves nothing about any of them.
  expectShape(moment.slot === slot, "accounts of another block than their clock");
  const stride = 1 + mints.length;
  return {
    ...moment,
    funds: addresses.map((owner, index) =>
      fundsIn(accounts.slice(index * stride, (index + 1) * stride), owner, mints),
    ),
  };
}

function fundsIn(
  [wallet, ...tokenAccounts]: readonly (Account | null)[],
  owner: Address,
  mints: readonly Address[],
): Funds {
  return {
    lamports: lamportsIn(wallet),
    tokens: mints.map((mint, index) => unitsIn(tokenAccounts[index], owner, mint)),
  };
}

/** Balances that one endpoint reported, with their slot. */
export interface ToldBalances {
  readonly slot: number;
  readonly endpoint: string;
  /** Base units, in the same order in every answer. */
  readonly amounts: readonly bigint[];
}

interface AgreedBalances<T> {
  /** The answers that count, newest first. */
  readonly counted: readonly T[];
  readonly oldest: T;
  readonly amounts: readonly bigint[];
  /** The highest amount in any counted answer: above `amounts` when endpoints differ. */
  readonly most: readonly bigint[];
}

/**
 * For each amount, the highest value that `witnesses` endpoints confirm: with two agreeing endpoints, the lower value.
 * The result is dated by the oldest counted answer, so that spent money is never taken for present money. Answers far
 * behind are ignored as long as enough remain: a stuck endpoint, or an endpoint that claims to be far ahead, blocks
 * nothing. Needs at least `witnesses` answers.
 */
export function agreedBalances<T extends ToldBalances>(
  answers: readonly T[],
  witnesses: number,
): AgreedBalances<T> {
  const newestFirst = answers.toSorted((one, other) => other.slot - one.slot);
  const reached = newestFirst[witnesses - 1]?.slot ?? 0;
  const counted = newestFirst.filter(({ slot }) => slot >= reached - MAX_SLOTS_BEHIND);
  const oldest = counted.at(-1);
  if (oldest === undefined) throw new TypeError("balances are agreed on by one answer at least");
  const told = oldest.amounts.map((_, index) =>
    counted.map((answer) => answer.amounts[index] ?? 0n).toSorted(largestFirst),
  );
  return {
    counted,
    oldest,
    amounts: told.map((each) => each[witnesses - 1] ?? 0n),
    most: told.map(([largest = 0n]) => largest),
  };
}

/** Compares amounts, for a sort; of a difference that no number tells, the sign is right all the same. */
export function largestFirst(one: bigint, other: bigint): number {
  return Number(other - one);
}
