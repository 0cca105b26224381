/** Characters that random tests make strings of. */
import fc from "fast-check";

const SURROGATES = 0x800;
const FIRST_SURROGATE = 0xd800;
const CHARACTERS = 0x11_0000 - SURROGATES;

/**
 * Any character that UTF-8 can write, for `fc.string({ unit: anyCharacter })`. fast-check's own unit `binary` is the same,
 * but it lists them all, which takes a second, and memory for the rest of the run.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat({ max: CHARACTERS - 1 }).map(characterAt, placeOf);

function characterAt(place: number): string {
  return String.fromCodePoint(place < FIRST_SURROGATE ? place : place + SURROGATES);
}

/** The way back, by which strings are made smaller. Whatever else is asked for throws. */
function placeOf(value: unknown): number {
  const code = typeof value === "string" ? (value.codePointAt(0) ?? 0) : 0;
  const place = code < FIRST_SURROGATE ? code : code - SURROGATES;
  if (place >= 0 && characterAt(place) === value) return place;
  throw new TypeError("this is no character");
}
