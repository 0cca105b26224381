/** Reads the balances of an owner over all its token accounts, associated or not. */
import type { Address } from "../../core/address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { FirmCommitment, Reading } from "../../ledger/ledger.ts";
import type { Funds } from "../../ledger/routing.ts";
import { weigh } from "../agree.ts";
import type { NodeContext, EndpointCall } from "../ask.ts";
import type { Endpoint } from "../endpoint.ts";
import { agreedBalances } from "./agreed-funds.ts";
import { ACCOUNT_HEAD } from "../programs.ts";
import { programOf, readTokenAccount } from "../token-accounts.ts";
import { lamportsIn } from "./held-in-account.ts";

/** The owner, mints and commitment of the question. */
export interface OwnerFundsQuery {
  readonly owner: Address;
  readonly mints: readonly Address[];
  readonly commitment: FirmCommitment;
}

/** See `RoutingLedger.fundsOfOwner`. */
export async function fundsOfOwner(
  nodes: NodeContext,
  asked: OwnerFundsQuery,
): Promise<Evidence<Reading & Funds>> {
  return await weigh(nodes, { of: "fundsOfOwner", question: readFundsOf(asked) }, (told) =>
    vouchedFor(told, nodes.witnesses),
  );
}

function vouchedFor(told: readonly (Reading & Funds)[], witnesses: number): Reading & Funds {
  const answers = told.map((reading) => ({ ...reading, amounts: [reading.lamports, ...reading.tokens] }));
  const { oldest, amounts } = agreedBalances(answers, witnesses);
  const [lamports = 0n, ...tokens] = amounts;
  return { slot: oldest.slot, endpoint: oldest.endpoint, lamports, tokens };
}

/** One endpoint answers the whole question; the slot is the slot of its oldest answer. */
function readFundsOf({ owner, mints, commitment }: OwnerFundsQuery): EndpointCall<Reading & Funds> {
  return async (endpoint) => {
    const [wallet, ...sums] = await Promise.all([
      endpoint.rpc.getAccountInfo(owner, { commitment, dataSlice: ACCOUNT_HEAD }),
      ...mints.map((mint) => sumOf(endpoint, mint, { owner, commitment })),
    ]);
    return {
      slot: Math.min(wallet.context.slot, ...sums.map(({ slot }) => slot)),
      endpoint: endpoint.name,
      lamports: lamportsIn(wallet.value),
      tokens: sums.map(({ units }) => units),
    };
  };
}

async function sumOf(
  { rpc }: Endpoint,
  mint: Address,
  { owner, commitment }: Omit<OwnerFundsQuery, "mints">,
): Promise<{ slot: number; units: bigint }> {
  // By mint and not by program: a stranger can give an address thousands of accounts of worthless mints.
  const { slot, accounts } = await rpc.getTokenAccountsByOwner(owner, { mint }, commitment);
  const ours = accounts
    .filter(({ account }) => programOf(account.owner) !== null)
    .map(({ account }) => readTokenAccount(account.data))
    .filter((held) => held?.owner === owner && held.mint === mint);
  return { slot, units: ours.reduce((sum, held) => sum + (held?.amount ?? 0n), 0n) };
}
