/** What pages show of the code is what there is. */
import { expect, test } from "vitest";
import { GENERATED, madeAnew } from "./generated.ts";
import { textOf } from "./page.ts";

/** The rooms are drawn by a tool that takes its time, and that a clone has once the foreign tests are installed. */
const WITHOUT_ROOMS = GENERATED.filter((file) => file !== "ARCHITECTURE.md");

test.each(WITHOUT_ROOMS)("%s shows the code as it is", async (file) => {
  expect(textOf(file), "run `npm run pages`").toBe(await madeAnew(file, textOf(file)));
});

test("U15: a row that is gone, a number that is wrong and another chart's diagram are noticed, and written anew", async () => {
  const limits = textOf("src/http/README.md");
  const spoilt = limits.replace(/^\| `webhook_test`.*\n/m, "").replace(/\| 120 +\|/, "| 121 |");
  const written = await madeAnew("src/http/README.md", spoilt);
  expect(spoilt).not.toBe(limits);
  expect(written).not.toBe(spoilt);
  // The words of a row that is gone are a person's.
  expect(written.replace(/`webhook_test` .*/, "")).toBe(limits.replace(/`webhook_test`: .*/, ""));
  const charts = textOf("machines/README.md");
  const other = charts.replace("accepted --> cancelled: CANCEL", "accepted --> failed: CANCEL");
  expect(other).not.toBe(charts);
  expect(await madeAnew("machines/README.md", other)).toBe(charts);
});
