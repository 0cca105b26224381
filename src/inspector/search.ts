/** Finds instances by any id, signature, address or reference that a person may have at hand. */
import type { InspectedPaymentParts } from "../payments/inspected-payments.ts";
import { knownAddress, parseAddress, type Address } from "../address.ts";
import type { InspectedParts } from "./find-instance-page.ts";
import type { RelatedId } from "./find-related.ts";

const MAX_HITS = 50;
const MAX_ACCOUNTS = 1_000;

/** Searches instances; returns each id with the reason. The likeliest instance comes first. */
export async function search({ storage, payments }: InspectedParts, text: string): Promise<RelatedId[]> {
  const own = (await storage.load(text)) === null ? [] : [[text, "its id"] as const];
  const others = payments === undefined ? [] : await searchPayments(payments, text);
  const hits = new Map([...others, ...own]);
  const found = await Promise.all(
    [...hits].slice(0, MAX_HITS).map(async (hit) => ((await storage.load(hit[0])) === null ? [] : [hit])),
  );
  return found.flat();
}

async function searchPayments(payments: InspectedPaymentParts, text: string): Promise<RelatedId[]> {
  const { reads } = payments;
  const [attempts, [deposit], quote, notice, delivery] = await Promise.all([
    reads.attempts([text]),
    reads.deposits([text]),
    reads.quote(text),
    reads.notice(text),
    reads.delivery(text),
  ]);
  const parsed = parseAddress(text);
  const named = "address" in parsed ? knownAddress(text) : null;
  return [
    ...attempts.map(({ transactionId }) => [transactionId, "its signature"] as const),
    ...(deposit === undefined ? [] : [[deposit.transactionId, "its deposit address"] as const]),
    ...(quote === null || quote.usedBy === null ? [] : [[quote.usedBy, "its quote"] as const]),
    ...(notice === null ? [] : [[notice.transactionId, "its notice"] as const]),
    ...(delivery === null ? [] : [[delivery.transactionId, "its delivery"] as const]),
    ...(await searchAccounts(payments, text, named)),
  ];
}

/** References and recipients are found account by account. */
async function searchAccounts(
  { reads }: InspectedPaymentParts,
  reference: string,
  recipient: Address | null,
): Promise<RelatedId[]> {
  const page = { below: null, limit: MAX_HITS };
  const accounts = await reads.accountsAfter("", MAX_ACCOUNTS);
  const found = await Promise.all(
    accounts.map(async ({ id }): Promise<RelatedId[]> => {
      const named = await reads.transactionsOf(id, { reference }, page);
      const paid = recipient === null ? [] : await reads.transactionsOf(id, { recipient }, page);
      return [
        ...named.map((each): RelatedId => [each.id, "its reference"]),
        ...paid.map((each): RelatedId => [each.id, "a recipient of it"]),
      ];
    }),
  );
  return found.flat();
}
