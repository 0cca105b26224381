/** Reads what one owner holds over all of its token accounts, associated or not. */
import type { Address } from "../../address.ts";
import type { Commitment, Reading } from "../../ledger/ledger.ts";
import type { Funds } from "../../ledger/routing.ts";
import { ask, type Nodes, type Question } from "../ask.ts";
import type { Endpoint } from "../endpoint.ts";
import { askWitnesses } from "../witnesses.ts";
import { agreedBalances } from "./agreed-funds.ts";
import { lamportsIn, unitsIn } from "./held-in-account.ts";

/** Whose holdings of which mints are asked for, and how final they have to be. */
export interface OwnerQuestion {
  readonly owner: Address;
  readonly mints: readonly Address[];
  readonly commitment: Commitment;
}

/** See `RoutingLedger.fundsOfOwner`. What is finalized is asked of every endpoint, the rest of one. */
export async function fundsOfOwner(nodes: Nodes, asked: OwnerQuestion): Promise<Reading & Funds> {
  const question = readFundsOf(asked);
  if (asked.commitment !== "finalized") return await ask(nodes, question);
  const answers = (await askWitnesses(nodes, question)).map((reading) => ({
    ...reading,
    amounts: [reading.lamports, ...reading.tokens],
  }));
  const { oldest, amounts } = agreedBalances(answers, nodes.witnesses);
  const [lamports = 0n, ...tokens] = amounts;
  return { slot: oldest.slot, endpoint: oldest.endpoint, lamports, tokens };
}

/** One endpoint answers all of it; the slot is the oldest of its answers. */
function readFundsOf({ owner, mints, commitment }: OwnerQuestion): Question<Reading & Funds> {
  return async (endpoint) => {
    const [wallet, ...sums] = await Promise.all([
      endpoint.rpc.getAccountInfo(owner, { commitment }),
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
  { owner, commitment }: Omit<OwnerQuestion, "mints">,
): Promise<{ slot: number; units: bigint }> {
  // By mint and not by program: a stranger can give an address thousands of accounts of worthless mints.
  const { slot, accounts } = await rpc.getTokenAccountsByOwner(owner, { mint }, commitment);
  const units = accounts.reduce((sum, { account }) => sum + unitsIn(account, owner, mint), 0n);
  return { slot, units };
}
