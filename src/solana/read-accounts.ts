/** Reads accounts in batches, in the order asked, null where there is none. */
import type { Commitment } from "../ledger/ledger.ts";
import type { EndpointCall } from "./ask.ts";
import type { Account } from "./rpc/account.ts";
import type { AccountQuery } from "./rpc/rpc-node.ts";

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
