/** Reads accounts: what stands at an address, the metadata of mints, the state of token accounts, and the chain's clock. */
import type { Commitment, AccountKind, MintMetadata, TokenAccountState } from "../ledger/ledger.ts";
import { type EndpointCall, type NodeContext, ask } from "./ask.ts";
import type { Account } from "./rpc/account.ts";
import type { AccountQuery } from "./rpc/rpc-node.ts";
import type { Address } from "../core/address.ts";
import { isTurnOver, nextTurn } from "../core/runtime.ts";
import type { Evidence, Hint } from "../ledger/belief.ts";
import { agree } from "./agree.ts";
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
  CLOCK_BYTES,
  CLOCK_SYSVAR,
  SYSVAR_OWNER,
} from "./programs.ts";
import {
  programOf,
  readMintDecimals,
  isFrozen,
  lamportsIn,
  unitsOfAnybody,
  readTokenAccount,
} from "./token-accounts.ts";
import { associatedTokenAccount } from "./derived-addresses.ts";
import type { AssetAccount } from "../ledger/routing.ts";
import type { FirmCommitment } from "../ledger/reading.ts";
import type { Endpoint } from "./endpoint.ts";
import { expectShape } from "./endpoint-failure.ts";

/** A moment of the chain: a node that has not reached the slot is behind. */
type Moment = Required<Pick<AccountQuery, "commitment" | "minContextSlot">>;

/** A question that reads accounts of one node, as many a call as it takes. `dataSlice` cuts what comes back of each. */
export function readAccounts(
  addresses: readonly string[],
  moment: Commitment | Moment,
  dataSlice: AccountQuery["dataSlice"],
): EndpointCall<(Account | null)[]> {
  const query: AccountQuery = {
    ...(typeof moment === "string" ? { commitment: moment } : moment),
    dataSlice,
  };
  return async ({ rpc, accountsPerCall }) => {
    const accounts: (Account | null)[] = [];
    for (let start = 0; start < addresses.length; start += accountsPerCall) {
      const batch = await rpc.getMultipleAccounts(addresses.slice(start, start + accountsPerCall), query);
      accounts.push(...batch.accounts);
    }
    return accounts;
  };
}

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

/** See `Ledger.tokenAccountStates`. */
export async function tokenAccountStates(
  nodes: NodeContext,
  accounts: readonly { readonly owner: Address; readonly mint: Address }[],
): Promise<Evidence<readonly TokenAccountState[]>> {
  const addresses: Address[] = [];
  for (const { owner, mint } of accounts) {
    addresses.push(associatedTokenAccount(owner, mint));
    // Half a millisecond each: hundreds must not hold up this process.
    if (isTurnOver()) await nextTurn();
  }
  const read = readAccounts(addresses, "confirmed", ACCOUNT_HEAD);
  return await agree(nodes, {
    of: "tokenAccountStates",
    subject: "the state of token accounts",
    question: async (endpoint): Promise<readonly TokenAccountState[]> => {
      const found = await read(endpoint);
      return accounts.map(({ owner }, index) => stateOf(found[index] ?? null, owner));
    },
    textOf: String,
  });
}

function stateOf(account: Account | null, owner: Address): TokenAccountState {
  // Lamports that a stranger sent to the address make no account.
  const held = account?.owner === TOKEN_PROGRAM ? readTokenAccount(account.data) : null;
  if (account === null || held === null) return "absent";
  if (held.owner !== owner) return "handed_over";
  return isFrozen(account) ? "frozen" : "usable";
}

/** See `RoutingLedger.amountsIn`. */
export async function amountsIn(
  nodes: NodeContext,
  accounts: readonly AssetAccount[],
  commitment: Commitment,
): Promise<Hint<readonly bigint[]>> {
  const read = readAccounts(
    accounts.map(({ address }) => address),
    commitment,
    ACCOUNT_HEAD,
  );
  // The limits of all endpoints count for looks: one whose calls have to wait leaves them to the next.
  const endpoints = nodes.endpoints.toSorted((a, b) => Number(b.hasRoom()) - Number(a.hasRoom()));
  return await ask({ ...nodes, endpoints }, async (endpoint) => {
    const found = await read(endpoint);
    return accounts.map(({ mint }, index) =>
      mint === null ? lamportsIn(found[index]) : unitsOfAnybody(found[index], mint),
    );
  });
}

/** A block's slot, and its time in Unix seconds. */
export interface BlockTime {
  readonly slot: number;
  readonly blockTime: number;
}

/** Reads the account's bytes; throws `EndpointFailure` when they are no clock. */
export function readClock(account: Account | null | undefined): BlockTime {
  const data = account?.owner === SYSVAR_OWNER ? account.data : undefined;
  expectShape(data?.length === CLOCK_BYTES, "clock");
  const slot = Number(data.readBigUInt64LE(0));
  const blockTime = Number(data.readBigInt64LE(32));
  expectShape(Number.isSafeInteger(slot) && Number.isSafeInteger(blockTime), "clock");
  return { slot, blockTime };
}

export async function readEnd(
  { rpc }: Pick<Endpoint, "rpc">,
  commitment: FirmCommitment,
): Promise<BlockTime> {
  const dataSlice = { offset: 0, length: CLOCK_BYTES };
  const { accounts } = await rpc.getMultipleAccounts([CLOCK_SYSVAR], { commitment, dataSlice });
  return readClock(accounts[0]);
}
