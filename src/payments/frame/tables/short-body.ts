/**
 * Bodies of notices, stored without what is in all of them or in their rows: four fifths of a body. The rest stands for the
 * body byte for byte, whatever later programs would make of the transaction.
 */
import { isoTime } from "../iso-time.ts";

interface NoticeFacts {
  readonly transactionId: string;
  readonly signature: string | null;
  readonly createdAt: number;
}

/** Texts of the row, in the order of their marks. */
const FACTS: readonly ((notice: NoticeFacts) => string | null)[] = [
  ({ transactionId }) => transactionId,
  ({ signature }) => signature,
  ({ createdAt }) => isoTime(createdAt),
];

/** Texts of many bodies, in the order of their marks. A released text is never edited or moved; new ones come last. */
const TEXTS = [
  '{"event":"transaction.',
  '","transactionId":"',
  '","timestamp":"',
  '","data":{"transactionId":"',
  '","status":"',
  '","mode":"wallet","type":"send","signature":',
  '","mode":"',
  '","type":"',
  '","signature":',
  ',"blockTime":null,"fee":null',
  ',"blockTime":',
  ',"fee":',
  ',"recipients":[{"address":"',
  '"},{"address":"',
  '","amount":"',
  '"}],"reason":null,"reference":null,"sender":"',
  '"}],"reason":',
  ',"reference":',
  '","quoteId":"quote_',
  '","inputAsset":"',
  ',"inputAmount":"',
  '","outputAsset":"',
  ',"outputAmount":"',
] as const;

/** JSON escapes the characters below 32, so none of them is in a body; tabs and ends of lines are left to those who print rows. */
const MARKS = Array.from({ length: 31 }, (_, index) => String.fromCharCode(index + 1)).filter(
  (mark) => !"\t\n\r".includes(mark),
);
/** The rest are of the texts of many bodies. */
const MARKS_OF_FACTS = 5;

interface Mark {
  readonly mark: string;
  readonly textOf: (notice: NoticeFacts) => string | null;
}

const marked: readonly Mark[] = [
  ...FACTS.map((textOf, index) => ({ mark: MARKS[index] ?? "", textOf })),
  ...TEXTS.map((text, index) => ({ mark: MARKS[MARKS_OF_FACTS + index] ?? "", textOf: () => text })),
];

/** The body of a notice, as it is stored: whole where it would not come back byte for byte. */
export function shortBody(body: string, notice: NoticeFacts): string {
  const stored = marked.reduce((short, { mark, textOf }) => {
    const text = textOf(notice);
    return text === null || text === "" ? short : short.replaceAll(text, mark);
  }, body);
  return wholeBody(stored, notice) === body ? stored : body;
}

/** The body that was stored so, or as it is. */
export function wholeBody(stored: string, notice: NoticeFacts): string {
  return marked.reduce(
    (body, { mark, textOf }) =>
      body.includes(mark) ? body.replaceAll(mark, () => textOf(notice) ?? "") : body,
    stored,
  );
}
