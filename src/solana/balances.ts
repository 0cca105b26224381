/** Reads what one address holds: lamports, and every mint summed over all of its token accounts. */
import bs58 from "bs58";
import { addressOf, type Address } from "../address.ts";
import type { Hint } from "../ledger/belief.ts";
import type { Balances } from "../ledger/ledger.ts";
import type { TokenProgram } from "../ledger/routing.ts";
import { ask, type NodeContext } from "./ask.ts";
import type { Endpoint } from "./endpoint.ts";
import { expectShape } from "./endpoint-failure.ts";
import { PROGRAM_ID } from "./programs.ts";
import { readAccounts } from "./read-accounts.ts";
import { readMintDecimals, readRawTokenAccount } from "./token-accounts.ts";
import { readTokenSymbol } from "./token-symbol.ts";

// Strangers make mints, and send of them: one can be megabytes. A symbol that stands further back is not shown.
const MINT_WITH_SYMBOL = { offset: 0, length: 16_384 };

/**
 * Reads all balances from one node at confirmed; `slot` is the oldest of the reads. Mints with a zero balance are left
 * out. Amounts are the raw units in the accounts' bytes, never `uiAmount`, which some extensions distort.
 *
 * Nodes write lamports as a JSON number, read as a double: above 2^53 (9 million SOL) the last digit may be off.
 */
export async function balances(
  nodes: NodeContext,
  owner: Address,
  among?: readonly Address[],
): Promise<Hint<Balances>> {
  return await ask(nodes, async (endpoint): Promise<Balances> => {
    const lists = listsOf(among).map((list) => sums(endpoint, owner, list));
    const [sol, ...held] = await Promise.all([endpoint.rpc.getBalance(owner, "confirmed"), ...lists]);
    const totals = held.flatMap((each) => each.totals);
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

/** Token accounts that are asked for in one call. */
interface ListedAccounts {
  readonly program: TokenProgram;
  readonly filter: { readonly mint: Address } | { readonly programId: string };
}

/** Lists by mint when possible: a stranger can give an address thousands of accounts of worthless mints. */
function listsOf(among: readonly Address[] | undefined): readonly ListedAccounts[] {
  const ofProgram = (program: TokenProgram): ListedAccounts => ({
    program,
    filter: { programId: PROGRAM_ID[program] },
  });
  const ofToken =
    among === undefined
      ? [ofProgram("token")]
      : among.map((mint) => ({ program: "token" as const, filter: { mint } }));
  return [...ofToken, ofProgram("token-2022")];
}

/** The total balance of one mint, in raw units. */
interface Total {
  readonly mint: Address;
  readonly amount: bigint;
  readonly program: TokenProgram;
}

/** Sums over the owner's token accounts in a list, without mints of which nothing is held. */
async function sums(
  { rpc }: Endpoint,
  owner: Address,
  { program, filter }: ListedAccounts,
): Promise<{ readonly slot: number; readonly totals: readonly Total[] }> {
  const { slot, accounts } = await rpc.getTokenAccountsByOwner(owner, filter, "confirmed");
  const ownerBytes = bs58.decode(owner);
  const amounts = new Map<string, bigint>();
  for (const { account } of accounts) {
    const held = readRawTokenAccount(account.data);
    if (held === null) continue;
    expectShape(held.owner.equals(ownerBytes), "token account of somebody else");
    if (held.amount === 0n) continue;
    const mint = held.mint.toString("hex");
    amounts.set(mint, (amounts.get(mint) ?? 0n) + held.amount);
  }
  const totals = [...amounts].map(([mint, amount]) => ({
    mint: addressOf(Buffer.from(mint, "hex")),
    amount,
    program,
  }));
  return { slot, totals };
}
