/** All accounts of a local chain at one moment, and all fees that it burnt: taken from the nodes, never from our database. */
import { AccountLayout } from "@solana/spl-token";
import type { LocalChain } from "../../../src/local/index.ts";

/** A chain as its nodes show it. */
export type ShownChain = Pick<LocalChain, "fetch" | "slot">;

/** An account with something in it. */
export interface PhotographedAccount {
  readonly address: string;
  /** Whose it is: of a token account its owner, of any other its address. */
  readonly owner: string;
  /** What owns it on the chain. */
  readonly program: string;
  /** Bytes of data. */
  readonly length: number;
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

/** Lamports of any account, a marker's too, as the newest block has them. */
export async function lamportsAt(chain: ShownChain, address: string): Promise<bigint> {
  const { value } = (await ask(chain, "getBalance", [address, { commitment: "processed" }])) as {
    value: number;
  };
  return BigInt(value);
}

/** Everything finalized that these own besides the programs of wallets and tokens. */
export async function photograph(chain: ShownChain, owners: readonly string[] = []): Promise<Photograph> {
  const slot = chain.slot();
  const found = await Promise.all(
    [SYSTEM_PROGRAM, TOKEN_PROGRAM, ...owners].map(
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
  chain: ShownChain,
  payers: readonly string[],
  from: number,
): Promise<ReadonlyMap<string, bigint>> {
  const fees = new Map<string, bigint>();
  for (const payer of payers) {
    let sum = 0n;
    for (const { slot, meta, transaction } of await transactionsOf(chain, payer)) {
      if (slot >= from && transaction.message.accountKeys[0] === payer) sum += BigInt(meta.fee);
    }
    fees.set(payer, sum);
  }
  return fees;
}

/** Lamports that one address has brought to another in transactions that it paid for. */
export async function lamportsFrom(chain: ShownChain, payer: string, to: string): Promise<bigint> {
  let sum = 0n;
  for (const { meta, transaction } of await transactionsOf(chain, to)) {
    const { accountKeys } = transaction.message;
    const place = accountKeys.indexOf(to);
    if (accountKeys[0] !== payer) continue;
    sum += BigInt(meta.postBalances[place] ?? 0) - BigInt(meta.preBalances[place] ?? 0);
  }
  return sum;
}

/** All that name an address, the newest first, failed ones included. */
async function transactionsOf(chain: ShownChain, address: string): Promise<readonly TransactionRow[]> {
  const found: TransactionRow[] = [];
  for (let before: string | undefined; ;) {
    const page = before === undefined ? {} : { before };
    const rows = (await ask(chain, "getSignaturesForAddress", [address, page])) as { signature: string }[];
    for (const { signature } of rows) {
      const asked = [signature, { maxSupportedTransactionVersion: 1 }];
      found.push((await ask(chain, "getTransaction", asked)) as TransactionRow);
    }
    before = rows.at(-1)?.signature;
    if (before === undefined) return found;
  }
}

interface Row {
  readonly pubkey: string;
  readonly account: { readonly lamports: string; readonly data: readonly [string]; readonly owner: string };
}

interface TransactionRow {
  readonly slot: number;
  readonly meta: {
    readonly fee: number;
    readonly preBalances: readonly number[];
    readonly postBalances: readonly number[];
  };
  readonly transaction: { readonly message: { readonly accountKeys: readonly string[] } };
}

function accountOf({ pubkey: address, account }: Row): PhotographedAccount {
  const lamports = BigInt(account.lamports);
  const data = Buffer.from(account.data[0], "base64");
  const shape = { program: account.owner, length: data.length };
  if (account.owner !== TOKEN_PROGRAM || data.length !== AccountLayout.span) {
    return { address, owner: address, lamports, tokens: null, ...shape };
  }
  const { mint, owner, amount } = AccountLayout.decode(data);
  const tokens = { mint: mint.toBase58(), amount };
  return { address, owner: owner.toBase58(), lamports, tokens, ...shape };
}

async function ask(chain: ShownChain, method: string, params: readonly unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const answer = await chain.fetch("http://local", { body });
  // The faucet has more lamports than a number of JavaScript holds.
  const text = (await answer.text()).replace(/"lamports":(\d+)/g, '"lamports":"$1"');
  const { result, error } = JSON.parse(text) as { readonly result?: unknown; readonly error?: unknown };
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}
