/** Accounts of one block as one node tells them, in the order asked. */
import { PublicKey, type AccountInfo, type Commitment, type DataSlice } from "@solana/web3.js";
import { expectShape } from "./endpoint-failure.ts";
import type { Endpoint } from "./endpoint.ts";
import { SYSTEM_PROGRAM, SYSVAR_OWNER, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "./programs.ts";
import { isObject } from "./rpc-call.ts";

/** How accounts are asked for. */
export interface AccountQuery {
  readonly commitment: Commitment;
  /** Cuts what comes back of each account. */
  readonly dataSlice?: DataSlice;
  /** A node that is not there yet answers with an error. */
  readonly minContextSlot?: number;
}

/** The answer of one call: all accounts as they were at the end of `slot`, null where there is none. */
export interface AccountInfos {
  readonly slot: number;
  readonly accounts: readonly (AccountInfo<Buffer> | null)[];
}

/** Asks one endpoint for at most as many accounts as it takes in one call. Throws when the answer has another shape. */
export async function accountInfos(
  { call }: Pick<Endpoint, "call">,
  addresses: readonly string[],
  query: AccountQuery,
): Promise<AccountInfos> {
  const answer = await call("getMultipleAccounts", [addresses, { ...query, encoding: "base64" }]);
  expectShape(isObject(answer) && isObject(answer["context"]), "accounts");
  const { slot } = answer["context"];
  expectShape(typeof slot === "number", "slot of accounts");
  const { value } = answer;
  expectShape(Array.isArray(value) && value.length === addresses.length, "number of accounts");
  return { slot, accounts: value.map(readAccount) };
}

// Nearly every account is owned by one of these, and a key costs more to read than the rest of the account.
const FREQUENT_OWNERS = new Map(
  [SYSTEM_PROGRAM, TOKEN_PROGRAM, TOKEN_2022_PROGRAM, SYSVAR_OWNER].map((id) => [id, new PublicKey(id)]),
);

function readAccount(account: unknown): AccountInfo<Buffer> | null {
  if (account === null) return null;
  expectShape(isObject(account), "account");
  const { executable, lamports, owner, rentEpoch, data } = account;
  expectShape(typeof executable === "boolean" && typeof owner === "string", "account");
  expectShape(typeof lamports === "number" && typeof rentEpoch === "number", "account");
  expectShape(Array.isArray(data) && data.length === 2 && data[1] === "base64", "account data");
  const [content] = data as readonly unknown[];
  expectShape(typeof content === "string", "account data");
  return {
    executable,
    lamports,
    owner: FREQUENT_OWNERS.get(owner) ?? new PublicKey(owner),
    rentEpoch,
    data: Buffer.from(content, "base64"),
  };
}
