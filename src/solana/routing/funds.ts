/** Reads the balances of many addresses, a batch at a time from one block, with the block's time. */
import type { Address } from "../../core/address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { FirmCommitment } from "../../ledger/ledger.ts";
import type { Funds, FundsReading } from "../../ledger/routing.ts";
import { weigh } from "../agree.ts";
import type { NodeContext, EndpointCall } from "../ask.ts";
import { expectShape } from "../endpoint-failure.ts";
import type { Endpoint } from "../endpoint.ts";
import { associatedTokenAccount } from "../associated-token-account.ts";
import { agreedBalances } from "./agreed-funds.ts";
import { ACCOUNT_HEAD, CLOCK_SYSVAR } from "../programs.ts";
import type { Account } from "../rpc/account.ts";
import { readClock, type BlockTime } from "./heights.ts";
import { lamportsIn, unitsIn } from "./held-in-account.ts";

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
