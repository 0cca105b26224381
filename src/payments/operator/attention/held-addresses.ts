/** Finds deposit addresses that are held: nothing is signed for them until an operator has decided. */
import { WRITTEN_OFF, type DepositRecord } from "../../tables/deposits.ts";
import type { PaymentStorage } from "../../payment-storage.ts";
import { SENT_ELSEWHERE } from "../../private/vouched-funds.ts";
import { MISSING_HISTORY, UNKNOWN_SPENDING } from "../../outgoing/unknown-spending.ts";
import {
  matterId,
  type AttentionSource,
  type FoundMatter,
  type MatterAction,
  type MatterKind,
} from "./matter.ts";
import { unitsWritten } from "../../outgoing/plans/other-mints.ts";
import type { Assets } from "../../assets/assets.ts";

/** The reason that an address is held for after it was restored from its order's id. */
export const RECOVERED = "recovered";

const SENTENCES: Readonly<Record<string, string>> = {
  screening: "the host's screening refuses somebody who paid in, or it cannot be told who did",
  sponsor_cap: "its order has cost the sponsor all that one order may cost",
  payment_fails: "a payment out of it has failed again and again",
  payment_cannot_be_made: "a payment out of it cannot be made",
  [UNKNOWN_SPENDING]: "it has signed transactions that this database does not know of",
  [MISSING_HISTORY]:
    "this database was not at work for a time, and no node has the history to show that the address has not paid meanwhile",
  [SENT_ELSEWHERE]:
    "money is left after a refund to another address, and came later or is more than was allowed",
  [RECOVERED]: "it was brought back from its order's id, and who sent the money is not known",
};

/** The kind of a held address, by the reason it is held for. */
function kindOfHold(heldReason: string): MatterKind {
  return heldReason === UNKNOWN_SPENDING || heldReason === MISSING_HISTORY ? "unexplained" : "held";
}

/**
 * The id of decisions about an address: the same for every reason of the hold, since the reason may change meanwhile.
 */
export function decisionOfAddress(address: string): string {
  return matterId("held", address);
}

export function decisionOf(matter: string): string {
  const unexplained = matterId("unexplained", "");
  return matter.startsWith(unexplained) ? decisionOfAddress(matter.slice(unexplained.length)) : matter;
}

const PAGE = 500;

/** The oldest held addresses that still are a matter, however many older ones were written off. */
export async function openHolds(
  storage: Pick<PaymentStorage, "heldDeposits">,
  limit: number,
): Promise<readonly DepositRecord[]> {
  const found: DepositRecord[] = [];
  for (let last: DepositRecord | undefined; ;) {
    const page = await storage.heldDeposits(PAGE, last);
    found.push(...page.filter(({ heldReason }) => heldReason !== WRITTEN_OFF));
    last = page.at(-1);
    if (page.length < PAGE || found.length >= limit) return found.slice(0, limit);
  }
}

/** `isRouting`: whether private mode is on; without it nothing can be sent anywhere. */
export function heldAddresses(
  storage: Pick<PaymentStorage, "heldDeposits">,
  isRouting: boolean,
): AttentionSource {
  const actionsOf = (heldReason: string): readonly MatterAction[] => {
    if (!isRouting) return ["writeOff"];
    return heldReason === RECOVERED ? ["refundTo", "writeOff"] : ["release", "refundTo", "writeOff"];
  };
  return async (limit) =>
    (await openHolds(storage, limit)).map(({ id, transactionId, accountId, heldReason }): FoundMatter => {
      const reason = heldReason ?? "";
      const kind = kindOfHold(reason);
      return {
        kind,
        id: matterId(kind, id),
        transactionId,
        accountId,
        since: null,
        message: `deposit address ${id} is held: ${SENTENCES[reason] ?? reason}`,
        actions: actionsOf(reason),
      };
    });
}

/** What the id of such a matter has before the address: an address that is held, too, is a matter of its own. */
export const TOKENS_AT = "tokens@";
const TOKENS = matterId("unexplained", TOKENS_AT);
/** Named in a matter's message; of the other mints there is a number. */
const MAX_NAMED = 3;

/**
 * One matter for each address, however many mints strangers have sent there. It is over when the tokens have left, or an
 * operator has dropped the matter; of tokens that come later there is a new one.
 */
export function addressesWithOtherMints(
  storage: Pick<PaymentStorage, "depositsWithOtherMints" | "entriesOf">,
  assets: Pick<Assets, "ofMint">,
): AttentionSource {
  return async (limit) => {
    const found = await storage.depositsWithOtherMints(limit);
    const entries = found.length === 0 ? [] : await storage.entriesOf(found.map(({ id }) => id));
    return found.map(({ id, transactionId, accountId, otherMintsAt }): FoundMatter => {
      const own = entries.filter(({ address, mint }) => address === id && assets.ofMint(mint) === null);
      const held = [...unitsWritten(own)].filter(([, units]) => units > 0n);
      const named = held.slice(0, MAX_NAMED).map(([mint, units]) => `${mint} (${units} raw units)`);
      const more = held.length > named.length ? [`${held.length - named.length} more`] : [];
      return {
        kind: "unexplained",
        id: matterId("unexplained", `${TOKENS_AT}${id}`),
        transactionId,
        accountId,
        since: own[0]?.at ?? otherMintsAt,
        message:
          `deposit address ${id} was sent tokens that this service does not use: ${[...named, ...more].join(", ")}. ` +
          `Once its order is over send them back by paystate release ${transactionId} --mint MINT, or drop the matter`,
        actions: ["drop"],
      };
    });
  };
}

/**
 * The source of a matter: its kind, but the sources of foreign tokens and of held addresses share a kind. Strangers can
 * send tokens to any number of addresses; what is left out of those says nothing about held addresses.
 */
export function sourceOfMatter({ id, kind }: { readonly id: string; readonly kind: string }): string {
  if (kind !== "unexplained") return kind;
  return id.startsWith(TOKENS) ? TOKENS_AT : "held";
}
