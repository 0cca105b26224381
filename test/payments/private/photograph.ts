/** All accounts of a local chain at one moment, and all fees that it burnt: taken from the nodes, never from our database. */
import { AccountLayout } from "@solana/spl-token";
import type { LocalChain } from "../../../src/local/index.ts";

/** An account with something in it. */
export interface PhotographedAccount {
  readonly address: string;
  /** Whose it is: of a token account its owner, of any other its address. */
  readonly owner: string;
  readonly lamports: bigint;
  /** What a token account holds; null for any other. */
  readonly tokens: { readonly mint: string; readonly amount: bigint } | null;
}

export interface Photograph {
  readonly slot: number;
  readonly accounts: readonly PhotographedAccount[];
}

const SYSTEM_PROGRAM = "11111111111111111111111111111111";
const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";

/** Everything finalized. */
export async function photograph(chain: LocalChain): Promise<Photograph> {
  const slot = chain.slot();
  const found = await Promise.all(
    [SYSTEM_PROGRAM, TOKEN_PROGRAM].map(
      (program) => ask(chain, "getProgramAccounts", [program, { encoding: "base64" }]) as Promise<Row[]>,
    ),
  );
  return { slot, accounts: found.flat().map(accountOf) };
}

/** What an owner has in `asset`, whose mint is null for SOL: lamports of its own, or tokens in whatever accounts. */
export function possession({ accounts }: Photograph, owner: string, mint: string | null): bigint {
  return accounts
    .filter((account) => account.owner === owner)
    .reduce((sum, { tokens, lamports }) => {
      if (mint === null) return tokens === null ? sum + lamports : sum;
      return tokens?.mint === mint ? sum + tokens.amount : sum;
    }, 0n);
}

/** Lamports that the chain took for transactions from this slot on, of which these addresses paid for each. */
export async function feesBurnt(
  chain: LocalChain,
  payers: readonly string[],
  from: number,
): Promise<ReadonlyMap<string, bigint>> {
  const fees = new Map<string, bigint>();
  for (const payer of payers) {
    const rows = (await ask(chain, "getSignaturesForAddress", [payer])) as {
      readonly signature: string;
      readonly slot: number;
    }[];
    let sum = 0n;
    for (const { signature, slot } of rows) {
      if (slot < from) continue;
      const { meta, transaction } = (await ask(chain, "getTransaction", [
        signature,
        { maxSupportedTransactionVersion: 0 },
      ])) as TransactionRow;
      if (transaction.message.accountKeys[0] === payer) sum += BigInt(meta.fee);
    }
    fees.set(payer, sum);
  }
  return fees;
}

interface Row {
  readonly pubkey: string;
  readonly account: { readonly lamports: string; readonly data: readonly [string]; readonly owner: string };
}

interface TransactionRow {
  readonly meta: { readonly fee: number };
  readonly transaction: { readonly message: { readonly accountKeys: readonly string[] } };
}

function accountOf({ pubkey: address, account }: Row): PhotographedAccount {
  const lamports = BigInt(account.lamports);
  const data = Buffer.from(account.data[0], "base64");
  if (account.owner !== TOKEN_PROGRAM || data.length !== AccountLayout.span) {
    return { address, owner: address, lamports, tokens: null };
  }
  const { mint, owner, amount } = AccountLayout.decode(data);
  return { address, owner: owner.toBase58(), lamports, tokens: { mint: mint.toBase58(), amount } };
}

async function ask(chain: LocalChain, method: string, params: readonly unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const answer = await chain.fetch("http://local", { body });
  // The faucet has more lamports than a number of JavaScript holds.
  const text = (await answer.text()).replace(/"lamports":(\d+)/g, '"lamports":"$1"');
  const { result, error } = JSON.parse(text) as { readonly result?: unknown; readonly error?: unknown };
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}
