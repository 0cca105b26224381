/** Reads what one address holds: lamports, and every mint summed over all of its token accounts. */
import bs58 from "bs58";
import { addressOf, type Address } from "../core/address.ts";
import type { Hint } from "../ledger/belief.ts";
import type { Balances } from "../ledger/ledger.ts";
import type { TokenProgram } from "../ledger/routing.ts";
import { ask, type NodeContext } from "./ask.ts";
import type { Endpoint } from "./endpoint.ts";
import { expectShape } from "./endpoint-failure.ts";
import { PROGRAM_ID, ACCOUNT_TYPE, ACCOUNT_TYPE_OFFSET, MINT_BYTES } from "./programs.ts";
import { readAccounts } from "./accounts.ts";
import { readMintDecimals, readRawTokenAccount } from "./token-accounts.ts";

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

/** The symbol that a Token-2022 mint carries on itself, read with distrust: a stranger may have made the mint. */

// Behind the account type stands a list of extensions: type (u16), length (u16), value.
const EXTENSION_HEADER_BYTES = 4;
const EXTENSION_TOKEN_METADATA = 19;
// Within the metadata: update authority and mint, 32 bytes each; then name, symbol and uri, each with a u32 length.
const NAME_AT = 64;
// A longer text is no symbol.
const MAX_SYMBOL_BYTES = 32;

/** The symbol in a mint's data; null without a readable symbol. Never throws. */
export function readTokenSymbol(mint: Buffer): string | null {
  if (mint.length <= MINT_BYTES || mint[ACCOUNT_TYPE_OFFSET] !== ACCOUNT_TYPE.mint) return null;
  let at = ACCOUNT_TYPE_OFFSET + 1;
  while (at + EXTENSION_HEADER_BYTES <= mint.length) {
    const type = mint.readUInt16LE(at);
    const length = mint.readUInt16LE(at + 2);
    const start = at + EXTENSION_HEADER_BYTES;
    if (type === EXTENSION_TOKEN_METADATA) return symbolIn(mint.subarray(start, start + length));
    at = start + length;
  }
  return null;
}

function symbolIn(metadata: Buffer): string | null {
  const name = stringAt(metadata, NAME_AT);
  const symbol = name === null ? null : stringAt(metadata, name.end);
  if (symbol === null || symbol.bytes.length > MAX_SYMBOL_BYTES) return null;
  const text = symbol.bytes.toString("utf8").trim();
  // Control, formatting and replacement characters would let one symbol look like another.
  return text !== "" && /^[^\p{C}\uFFFD]+$/u.test(text) ? text : null;
}

function stringAt(data: Buffer, at: number): { bytes: Buffer; end: number } | null {
  if (at + 4 > data.length) return null;
  const start = at + 4;
  const end = start + data.readUInt32LE(at);
  return end <= data.length ? { bytes: data.subarray(start, end), end } : null;
}
