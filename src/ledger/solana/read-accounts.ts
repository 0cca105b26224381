/** Reading accounts in batches, in the order asked, null where there is none. */
import { PublicKey, type AccountInfo, type Commitment, type DataSlice } from "@solana/web3.js";
import type { Question } from "./ask.ts";
import { expectShape } from "./endpoint-failure.ts";

// What getMultipleAccounts takes in one call.
const ACCOUNTS_PER_CALL = 100;

/** A question that reads accounts of one node, at most 100 a call. `dataSlice` cuts what comes back of each. */
export function readAccounts(
  addresses: readonly string[],
  commitment: Commitment,
  dataSlice?: DataSlice,
): Question<(AccountInfo<Buffer> | null)[]> {
  return async (connection) => {
    const accounts: (AccountInfo<Buffer> | null)[] = [];
    for (let start = 0; start < addresses.length; start += ACCOUNTS_PER_CALL) {
      const keys = addresses.slice(start, start + ACCOUNTS_PER_CALL).map((address) => new PublicKey(address));
      const config = { commitment, ...(dataSlice === undefined ? {} : { dataSlice }) };
      const { value } = await connection.getMultipleAccountsInfoAndContext(keys, config);
      expectShape(value.length === keys.length, "number of accounts");
      accounts.push(...value);
    }
    return accounts;
  };
}
