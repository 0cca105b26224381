/** The order of texts as databases have it: by their bytes. */

/**
 * Negative when `a` stands before `b`, positive when it stands behind, 0 when both are equal: by their UTF-8 bytes, as
 * every order of a storage is. JavaScript itself compares halves of characters beyond the first 65,536, which come before
 * others that are below them.
 */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  if (HALVES.test(a) || HALVES.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : 1;
}

const HALVES = /[\ud800-\udfff]/;
