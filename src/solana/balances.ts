/** Reads what one address holds: lamports, and every mint summed over all of its token accounts. */
import type { Address } from "../address.ts";
import type { Balances } from "../ledger/ledger.ts";
import type { TokenProgram } from "../ledger/routing.ts";
import { ask, type Nodes } from "./ask.ts";
import type { Endpoint } from "./endpoint.ts";
import { expectShape } from "./endpoint-failure.ts";
import { PROGRAM_ID } from "./programs.ts";
import { readAccounts } from "./read-accounts.ts";
import { readMintDecimals, readTokenAccount } from "./token-accounts.ts";
import { readTokenSymbol } from "./token-symbol.ts";

// Strangers make mints, and send of them: one can be megabytes. A symbol that stands further back is not shown.
const MINT_WITH_SYMBOL = { offset: 0, length: 16_384 };

const TOKEN_PROGRAMS = ["token", "token-2022"] as const;

/**
 * Reads all of it from one node at confirmed; `slot` is the oldest of the reads. Mints of which nothing is held are
 * left out. Amounts are the raw units in the accounts' bytes, never `uiAmount`, which some extensions distort.
 *
 * Nodes write lamports as a JSON number, read as a double: above 2^53 (9 million SOL) the last digit may be off.
 */
export async function balances(nodes: Nodes, owner: Address): Promise<Balances> {
  return await ask(nodes, async (endpoint) => {
    const [sol, ...held] = await Promise.all([
      endpoint.rpc.getBalance(owner, "confirmed"),
      ...TOKEN_PROGRAMS.map((program) => sums(endpoint, owner, program)),
    ]);
    const totals = held.flatMap(({ amounts, program }) =>
      [...amounts].filter(([, amount]) => amount > 0n).map(([mint, amount]) => ({ mint, amount, program })),
    );
    const mints = await readAccounts(
      totals.map(({ mint }) => mint),
      "confirmed",
      MINT_WITH_SYMBOL,
    )(endpoint);
    const holdings = totals.flatMap((total, index) => {
      const data = mints[index]?.data;
      // A mint without its account cannot be counted in whole units, so there is nothing to show.
      const decimals = data === undefined ? null : readMintDecimals(data);
      if (data === undefined || decimals === null) return [];
      const symbol = total.program === "token-2022" ? readTokenSymbol(data) : null;
      return [{ ...total, decimals, symbol }];
    });
    const slot = Math.min(sol.context.slot, ...held.map((each) => each.slot));
    return { slot, endpoint: endpoint.name, lamports: BigInt(sol.value), holdings };
  });
}

/** Raw units per mint. */
interface ProgramHoldings {
  readonly slot: number;
  readonly program: TokenProgram;
  readonly amounts: ReadonlyMap<Address, bigint>;
}

/** Sums over all of the owner's token accounts of one program. */
async function sums({ rpc }: Endpoint, owner: Address, program: TokenProgram): Promise<ProgramHoldings> {
  const filter = { programId: PROGRAM_ID[program] };
  const { context, value } = await rpc.getTokenAccountsByOwner(owner, filter, "confirmed");
  const amounts = new Map<Address, bigint>();
  for (const { account } of value) {
    const held = readTokenAccount(account.data);
    if (held === null) continue;
    expectShape(held.owner === owner, "token account of somebody else");
    amounts.set(held.mint, (amounts.get(held.mint) ?? 0n) + held.amount);
  }
  return { slot: context.slot, program, amounts };
}
