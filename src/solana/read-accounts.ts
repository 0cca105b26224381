/** Reads accounts in batches, in the order asked, null where there is none. */
import type { AccountInfo, Commitment, DataSlice } from "@solana/web3.js";
import { accountInfos } from "./account-infos.ts";
import type { Question } from "./ask.ts";

/** A question that reads accounts of one node, as many a call as it takes. `dataSlice` cuts what comes back of each. */
export function readAccounts(
  addresses: readonly string[],
  commitment: Commitment,
  dataSlice?: DataSlice,
): Question<(AccountInfo<Buffer> | null)[]> {
  const query = { commitment, ...(dataSlice === undefined ? {} : { dataSlice }) };
  return async (_connection, endpoint) => {
    const { accountsPerCall } = endpoint;
    const accounts: (AccountInfo<Buffer> | null)[] = [];
    for (let start = 0; start < addresses.length; start += accountsPerCall) {
      const batch = await accountInfos(endpoint, addresses.slice(start, start + accountsPerCall), query);
      accounts.push(...batch.accounts);
    }
    return accounts;
  };
}
