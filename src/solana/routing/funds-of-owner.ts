/** What one owner holds over all of its token accounts, associated or not. */
import { PublicKey, type Connection } from "@solana/web3.js";
import type { Address } from "../../address.ts";
import type { Commitment, Reading } from "../../ledger/ledger.ts";
import type { Funds } from "../../ledger/routing.ts";
import { ask, type Nodes, type Question } from "../ask.ts";
import { askWitnesses } from "../witnesses.ts";
import { agreedBalances } from "./agreed-funds.ts";
import { lamportsIn, unitsIn } from "./held-in-account.ts";

/** See `RoutingLedger.fundsOfOwner`. What is finalized is asked of every endpoint, the rest of one. */
export async function fundsOfOwner(
  nodes: Nodes,
  owner: Address,
  mints: readonly Address[],
  commitment: Commitment,
): Promise<Reading & Funds> {
  const question = readFundsOf(owner, mints, commitment);
  if (commitment !== "finalized") return await ask(nodes, question);
  const answers = (await askWitnesses(nodes, question)).map((reading) => ({
    ...reading,
    amounts: [reading.lamports, ...reading.tokens],
  }));
  const { oldest, amounts } = agreedBalances(answers, nodes.witnesses);
  const [lamports = 0n, ...tokens] = amounts;
  return { slot: oldest.slot, endpoint: oldest.endpoint, lamports, tokens };
}

/** One endpoint answers all of it; the slot is the oldest of its answers. */
function readFundsOf(
  owner: Address,
  mints: readonly Address[],
  commitment: Commitment,
): Question<Reading & Funds> {
  return async (connection, endpoint) => {
    const [wallet, ...sums] = await Promise.all([
      connection.getAccountInfoAndContext(new PublicKey(owner), { commitment }),
      ...mints.map((mint) => sumOf(connection, owner, mint, commitment)),
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
  connection: Connection,
  owner: Address,
  mint: Address,
  commitment: Commitment,
): Promise<{ slot: number; units: bigint }> {
  // By mint and not by program: anybody can give an address thousands of accounts of worthless mints.
  const { context, value } = await connection.getTokenAccountsByOwner(
    new PublicKey(owner),
    { mint: new PublicKey(mint) },
    commitment,
  );
  const units = value.reduce((sum, { account }) => sum + unitsIn(account, owner, mint), 0n);
  return { slot: context.slot, units };
}
