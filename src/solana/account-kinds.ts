/** Reads what stands at an address, and the metadata of mints, by its account's owner, length and type byte. */
import type { Account } from "./rpc/account.ts";
import type { Address } from "../core/address.ts";
import type { Evidence, Hint } from "../ledger/belief.ts";
import type { AccountKind, MintMetadata } from "../ledger/ledger.ts";
import { agree } from "./agree.ts";
import { type NodeContext, ask } from "./ask.ts";
import {
  ACCOUNT_HEAD,
  ACCOUNT_TYPE,
  ACCOUNT_TYPE_OFFSET,
  MINT_BYTES,
  MULTISIG_BYTES,
  TOKEN_ACCOUNT_BYTES,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from "./programs.ts";
import { readAccounts } from "./read-accounts.ts";
import { programOf, readMintDecimals } from "./token-accounts.ts";

/** The kinds in the order asked, at confirmed, as enough endpoints tell them. */
export async function accountKinds(
  nodes: NodeContext,
  addresses: readonly Address[],
): Promise<Evidence<readonly AccountKind[]>> {
  const read = readAccounts(addresses, "confirmed", ACCOUNT_HEAD);
  return await agree(nodes, {
    of: "accountKinds",
    subject: "the account of a recipient",
    question: async (endpoint): Promise<readonly AccountKind[]> =>
      (await read(endpoint)).map((account) => (account === null ? "absent" : kindOf(account))),
    textOf: String,
  });
}

/** The kind of an account of which `ACCOUNT_HEAD` were read. */
function kindOf({ executable, owner, data }: Account): AccountKind {
  if (executable) return "program";
  switch (owner) {
    case SYSTEM_PROGRAM:
      // With data it is a nonce account, whose lamports a plain transfer cannot move.
      return data.length === 0 ? "wallet" : "other";
    case TOKEN_PROGRAM:
    case TOKEN_2022_PROGRAM:
      return tokenKindOf(data);
    default:
      return "other";
  }
}

function tokenKindOf(data: Buffer): AccountKind {
  if (data.length === MINT_BYTES) return "mint";
  if (data.length === TOKEN_ACCOUNT_BYTES) return "token_account";
  if (data.length === MULTISIG_BYTES) return "other";
  const type = data[ACCOUNT_TYPE_OFFSET];
  if (type === ACCOUNT_TYPE.mint) return "mint";
  return type === ACCOUNT_TYPE.tokenAccount ? "token_account" : "other";
}

/** See `Ledger.mints`. */
export async function mints(
  nodes: NodeContext,
  addresses: readonly Address[],
): Promise<Hint<readonly (MintMetadata | null)[]>> {
  const read = readAccounts(addresses, "confirmed", ACCOUNT_HEAD);
  return await ask(nodes, async (endpoint) => (await read(endpoint)).map(factsIn));
}

function factsIn(account: Account | null): MintMetadata | null {
  if (account === null || kindOf(account) !== "mint") return null;
  const program = programOf(account.owner);
  const decimals = readMintDecimals(account.data);
  return program === null || decimals === null ? null : { program, decimals };
}
