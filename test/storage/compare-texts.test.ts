/** The order of texts as databases have it. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { compareTexts } from "../../storage/compare-texts.ts";

test("any two texts stand as their UTF-8 bytes do, also where one alone has characters beyond the first 65,536", () => {
  const text = fc.string({ unit: "binary" });
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareTexts(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
    {
      examples: [
        ["\u{10000}", "\uffff"],
        ["\uffff", "\u{10000}"],
      ],
    },
  );
});
