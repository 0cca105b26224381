/** Whether the chain takes transactions of version 1: validators switch features on by an account for each. */
import type { Evidence } from "../ledger/belief.ts";
import { agree } from "./agree.ts";
import type { NodeContext } from "./ask.ts";
import { FEATURE_OWNER, TRANSACTIONS_V1_FEATURE } from "./programs.ts";
import { readAccounts } from "./read-accounts.ts";

// A feature is switched on at the end of an epoch, which lasts two days, and never off.
const KNOWN_FOR_MS = 60_000;

// An optional slot: none while validators only could switch it on.
const IS_ACTIVE = { offset: 0, length: 1 };

/** See `Ledger.takesVersion1`. */
export async function takesVersion1(nodes: NodeContext): Promise<Evidence<boolean>> {
  const read = readAccounts([TRANSACTIONS_V1_FEATURE], "finalized", IS_ACTIVE);
  return await nodes.remembered("version 1", KNOWN_FOR_MS, () =>
    agree(nodes, {
      subject: "whether the chain takes transactions of version 1",
      question: async (endpoint) => {
        const [account] = await read(endpoint);
        return account?.owner === FEATURE_OWNER && account.data[0] === 1;
      },
      textOf: String,
    }),
  );
}
