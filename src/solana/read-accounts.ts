/** Reads accounts in batches, in the order asked, null where there is none. */
import type { Commitment } from "../ledger/ledger.ts";
import type { EndpointCall } from "./ask.ts";
import type { Account } from "./rpc/account.ts";
import type { AccountQuery } from "./rpc/rpc-node.ts";

/** A question that reads accounts of one node, as many a call as it takes. `dataSlice` cuts what comes back of each. */
export function readAccounts(
  addresses: readonly string[],
  commitment: Commitment,
  dataSlice?: AccountQuery["dataSlice"],
): EndpointCall<(Account | null)[]> {
  const query = { commitment, ...(dataSlice === undefined ? {} : { dataSlice }) };
  return async ({ rpc, accountsPerCall }) => {
    const accounts: (Account | null)[] = [];
    for (let start = 0; start < addresses.length; start += accountsPerCall) {
      const batch = await rpc.getMultipleAccounts(addresses.slice(start, start + accountsPerCall), query);
      accounts.push(...batch.accounts);
    }
    return accounts;
  };
}
