/** The chunks of an order in the model of the chain, and what each may be signed to pay. */
import { EMPTY_GO, lengthOf, NOBODY } from "../outcome.ts";

/** Recipients by number, cut into chunks. Each gets 1, and so does the fee. */
export type Chunks = readonly (readonly number[])[];

/** Whom one transaction of a chunk pays, and the length that its marker gets. */
export interface Payout {
  readonly length: number;
  readonly recipients: readonly number[];
  readonly hasFee: boolean;
  /** Of chunk 0: whether the order goes on. */
  readonly isGo: boolean;
}

/** The address of a marker: each chunk of each cut has one. */
export interface Slot {
  /** Among all slots. */
  readonly place: number;
  readonly chunk: number;
  readonly members: readonly number[];
  /** By length. */
  readonly payouts: ReadonlyMap<number, Payout>;
}

/** Which payouts are signed at all. */
export interface Signed {
  /** The fee, in the transactions of chunk 0. */
  readonly fee: boolean;
  /** The fee alone, in an order of one chunk. */
  readonly feeAlone: boolean;
  /** Those that pay somebody, but not everybody. */
  readonly leavingOut: boolean;
  /** Those that pay nobody. */
  readonly nobody: boolean;
  /** In chunk 0 of an order of several chunks: no member, and go. */
  readonly emptyGo: boolean;
}

/** Every payout of a chunk that may be signed. */
export function payoutsOf(chunks: Chunks, chunk: number, signed: Signed): Payout[] {
  const members = chunks[chunk] ?? [];
  const payouts: Payout[] = [];
  for (const recipients of subsets(members)) {
    for (const hasFee of chunk === 0 && signed.fee ? [true, false] : [false]) {
      const isAlone = chunk === 0 && chunks.length === 1 && recipients.length === 0;
      const length =
        isAlone && !(hasFee && signed.feeAlone) ? null : lengthFor(chunks, chunk, { recipients, hasFee });
      if (length !== null) payouts.push({ length, recipients, hasFee, isGo: true });
    }
  }
  payouts.push({ length: NOBODY, recipients: [], hasFee: false, isGo: false });
  return payouts.filter(
    ({ length, recipients }) =>
      (signed.emptyGo || length !== EMPTY_GO) &&
      (signed.nobody || recipients.length > 0) &&
      (signed.leavingOut || recipients.length === members.length),
  );
}

/** The length of a payout that is not `nobody`, or null if there is none. */
function lengthFor(
  chunks: Chunks,
  chunk: number,
  { recipients, hasFee }: Pick<Payout, "recipients" | "hasFee">,
): number | null {
  const members = chunks[chunk] ?? [];
  const first = chunk === 0 ? 1 : 0;
  const fee = first === 1 && !hasFee ? [0] : [];
  const others = members.flatMap((member, place) => (recipients.includes(member) ? [] : [place + first]));
  const leftOut = [...fee, ...others];
  if (leftOut.length < members.length + first) return lengthOf(members.length + first, leftOut);
  return chunk === 0 && chunks.length > 1 ? EMPTY_GO : null;
}

function subsets(members: readonly number[]): number[][] {
  return Array.from({ length: 2 ** members.length }, (_, mask) =>
    members.filter((_member, bit) => ((mask >> bit) & 1) === 1),
  );
}

/** Whom a payout pays, in words. */
export function nameOf({ length, recipients, hasFee }: Payout): string {
  if (length === EMPTY_GO) return "nobody, and the order goes on";
  const names = recipients.map((recipient) => nameOfRecipient(recipient)).join(", ");
  return [names, hasFee ? "the fee" : ""].filter((name) => name !== "").join(" and ") || "nobody";
}

/** Recipients are a, b, c and so on. */
export function nameOfRecipient(recipient: number): string {
  return String.fromCharCode("a".charCodeAt(0) + recipient);
}
