/** Finds a message that landed under a signature other than the submitted one. */
import type { Address } from "../core/address.ts";
import type { Attempt } from "../ledger/ledger.ts";
import type { Endpoint } from "./endpoint.ts";
import { isSignedAs, messageHashOf, writtenAccounts } from "./rpc/landed-transaction.ts";
import type { TransactionListEntry } from "./rpc/rpc-node.ts";
import { errorText } from "./statuses.ts";

// A reference key belongs to one quote, whose refreshes give out a few transactions at most. More are strangers' noise.
const MAX_LISTED = 10;
// The fee payer and its token account are among the first; a busier one is passed over.
const MAX_ACCOUNTS = 4;
const PAGE = 1_000;
const MAX_PAGES = 3;
// Transactions of the window that are read. Each costs a call.
const MAX_IN_WINDOW = 100;
// Far more slots than a blockhash lives, even where many are skipped.
const MAX_SLOTS = 5_000;

/** A finalized transaction, as one endpoint shows it. */
export interface FoundLanding {
  readonly signature: string;
  readonly slot: number;
  /** The chain's error as JSON text, null when it succeeded. */
  readonly error: string | null;
}

/** The result of searching a node's lists: the landing of exactly this message, nothing, or an unclear result. */
type MessageSearch = FoundLanding | "absent" | "unclear";

/**
 * Searches the finalized transactions that name the message's reference key. Where more name the key than are read, and for
 * a foreign message, which has no such key, also the transactions that name an account that the message writes, in the
 * slots where it could land. A sender can sign one message under as many signatures as it likes, and the chain takes one
 * of them. `notBefore` is a slot that the node must have reached.
 */
export async function findMessage(
  endpoint: Endpoint,
  attempt: Attempt,
  notBefore: number,
): Promise<MessageSearch> {
  const { reference } = attempt;
  const named = reference === null ? null : await listedFor(endpoint, reference, notBefore);
  const isWhole = named !== null && named.length <= MAX_LISTED;
  const inWindow = isWhole ? [] : await listedInWindow(endpoint, attempt, notBefore);
  let isClear = inWindow !== null;
  for (const { signature, slot, err } of [...(named ?? []).slice(0, MAX_LISTED), ...(inWindow ?? [])]) {
    const found = await landedMessageHash(endpoint, { signature, slot });
    if (found === attempt.messageHash) return { signature, slot, error: errorText(err) };
    // Index and ledger of this node disagree about an entry: of the others each may still be the message.
    if (found === null) isClear = false;
  }
  return isClear ? "absent" : "unclear";
}

async function listedFor(
  { rpc }: Endpoint,
  reference: Address,
  notBefore: number,
): Promise<readonly TransactionListEntry[]> {
  return await rpc.getSignaturesForAddress(reference, { limit: MAX_LISTED + 1, minContextSlot: notBefore });
}

/** The node's list of the window for one account that the message writes; null when all such accounts are too busy. */
async function listedInWindow(
  endpoint: Endpoint,
  attempt: Attempt,
  notBefore: number,
): Promise<readonly TransactionListEntry[] | null> {
  for (const account of writtenAccounts(attempt.bytes).slice(0, MAX_ACCOUNTS)) {
    const listed = await windowOf(endpoint, { account, firstSlot: attempt.firstSlot }, notBefore);
    if (listed !== null) return listed;
  }
  return null;
}

/** Null where the window is too long a way back, or holds too much. */
async function windowOf(
  { rpc }: Endpoint,
  { account, firstSlot }: { readonly account: Address; readonly firstSlot: number },
  notBefore: number,
): Promise<readonly TransactionListEntry[] | null> {
  const found: TransactionListEntry[] = [];
  let query: { readonly before?: string } = {};
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const listed = await rpc.getSignaturesForAddress(account, {
      ...query,
      limit: PAGE,
      minContextSlot: notBefore,
    });
    found.push(...listed.filter(({ slot }) => slot >= firstSlot && slot <= firstSlot + MAX_SLOTS));
    if (found.length > MAX_IN_WINDOW) return null;
    const oldest = listed.at(-1);
    if (listed.length < PAGE || oldest === undefined || oldest.slot < firstSlot) return found;
    query = { before: oldest.signature };
  }
  return null;
}

/**
 * The hash of the message of a transaction that is shown in this slot; null where the node does not have the transaction, or
 * shows bytes under the signature that it does not sign.
 */
export async function landedMessageHash(
  { rpc }: Pick<Endpoint, "rpc">,
  { signature, slot }: Pick<TransactionListEntry, "signature" | "slot">,
): Promise<string | null> {
  const landed = await rpc.getShownTransaction(signature, slot);
  return landed !== null && isSignedAs(landed.transaction, signature)
    ? messageHashOf(landed.transaction)
    : null;
}
