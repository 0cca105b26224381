/** The books of one payment that its sender has signed: whether it was made, and whether it says so. */
// modules: private
import type { Books } from "./books.ts";
import type { LivedSend } from "./lived-send.ts";
import { ASSETS } from "./random-life.ts";

const OVER: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

/** One sentence for each thing that does not add up, where no database believed what is not so. */
export async function brokenSend(books: Books, send: LivedSend): Promise<readonly string[]> {
  const broken = [...brokenPayee(books, send), ...(await brokenWord(books, send))];
  return broken.map((sentence) => `send ${send.taken?.id ?? "never taken"}: ${sentence}`);
}

/** Its payee has all of it, once, or nothing. */
export function brokenPayee({ gain }: Books, { payee, words, amount }: LivedSend): readonly string[] {
  return ASSETS.flatMap((asset) => {
    const got = gain(payee.address, asset);
    const isRight = got === 0n || (asset === words.asset && got === amount);
    return isRight ? [] : [`its payee is due ${amount} ${words.asset} and got ${got} ${asset}`];
  });
}

/** What it says of itself is what has happened, and it is over. */
export async function brokenWord(
  { gain, storage, service, caller }: Books,
  { taken, payee, words }: LivedSend,
): Promise<readonly string[]> {
  // An older database may never have heard of it.
  if (taken === null || (await storage.transaction(taken.id)) === null) return [];
  const { status, reason, landedAfterCancel, recipients } = await service.transaction(caller, taken.id);
  const isPaid = gain(payee.address, words.asset) > 0n;
  const told = `it is ${status} (${String(reason)}), and its payee ${isPaid ? "is" : "is not"} paid`;
  const saysPaid = status === "completed" || landedAfterCancel === true;
  if (!OVER.has(status) || saysPaid !== isPaid) return [told];
  return (recipients[0]?.status === "paid") === isPaid ? [] : [`${told}: recipient ${recipients[0]?.status}`];
}
