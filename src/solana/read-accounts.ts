/** Reading accounts in batches, in the order asked, null where there is none. */
import { PublicKey, type AccountInfo, type Commitment, type DataSlice } from "@solana/web3.js";
import type { Question } from "./ask.ts";
import { expectShape } from "./endpoint-failure.ts";

/** A question that reads accounts of one node, as many a call as it takes. `dataSlice` cuts what comes back of each. */
export function readAccounts(
  addresses: readonly string[],
  commitment: Commitment,
  dataSlice?: DataSlice,
): Question<(AccountInfo<Buffer> | null)[]> {
  return async (connection, { accountsPerCall }) => {
    const accounts: (AccountInfo<Buffer> | null)[] = [];
    for (let start = 0; start < addresses.length; start += accountsPerCall) {
      const keys = addresses.slice(start, start + accountsPerCall).map((address) => new PublicKey(address));
      const config = { commitment, ...(dataSlice === undefined ? {} : { dataSlice }) };
      const { value } = await connection.getMultipleAccountsInfoAndContext(keys, config);
      expectShape(value.length === keys.length, "number of accounts");
      accounts.push(...value);
    }
    return accounts;
  };
}
