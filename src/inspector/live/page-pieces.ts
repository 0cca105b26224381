/** A page in pieces, so that what a browser has of it already is named by its place and not sent again. */

/** A piece as text, or so many pieces of the page before, from this place on. */
export type PageChange = string | readonly [from: number, count: number];

/** The beginning of a piece: a section or a row of a table. The browser cuts its page at the same places. */
export const PIECE_BEGINS = /(?=<(?:tr|section)\b)/;

/** The pieces in their order. Joined they are the page again. */
export function piecesOf(main: string): readonly string[] {
  return main.split(PIECE_BEGINS);
}

/** The changes that turn one page into the next. */
export function changesOf(before: readonly string[], after: readonly string[]): readonly PageChange[] {
  const places = new Map(before.map((piece, place) => [piece, place]));
  const changes: PageChange[] = [];
  for (const piece of after) {
    const place = places.get(piece);
    const last = changes.at(-1);
    if (place === undefined) changes.push(piece);
    else if (typeof last !== "object" || last[0] + last[1] !== place) changes.push([place, 1]);
    else changes[changes.length - 1] = [last[0], last[1] + 1];
  }
  return changes;
}
