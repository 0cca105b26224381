/** Which test files are taken for the nearest to a place. */
import { expect, test } from "vitest";
import { RelatedTests } from "./related-tests.ts";

const QUOTES = "/** A quote expires, and a quoted price is kept. */ expireQuote(priceOf(pair));";
const related = new RelatedTests(
  new Map([
    ["test/payments/webhooks.test.ts", 'test("a webhook is delivered again after a pause");'],
    ["test/engine/timers.test.ts", 'test("a timer fires once, after its pause");'],
    ["test/payments/quotes.test.ts", 'test("an expired quote is refused, its price is kept");'],
    ["test/http/quotes.test.ts", 'test("an expired quote is refused, its price is kept");'],
  ]),
);

test("those that speak most of what the source speaks of come first, and of equal ones that of its room", () => {
  const [first, second] = related.of({ file: "src/payments/quotes/expire.ts", line: 1 }, QUOTES);
  expect([first, second]).toEqual(["test/payments/quotes.test.ts", "test/http/quotes.test.ts"]);
});

test("what stands around the place counts beside the rest of its file", () => {
  const apart = "\n".repeat(40);
  const source = `${QUOTES}${apart}deliver(webhook);${apart}fire(timer);`;
  const first = (line: number): string | undefined => related.of({ file: "src/mixed.ts", line }, source)[0];
  expect(first(41)).toBe("test/payments/webhooks.test.ts");
  expect(first(81)).toBe("test/engine/timers.test.ts");
});
