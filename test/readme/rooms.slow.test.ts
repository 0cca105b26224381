/** The page of the architecture draws the rooms, and who imports whom, as they are. */
import { expect, test } from "vitest";
import { madeAnew } from "./generated.ts";
import { textOf } from "./page.ts";

test("U15: ARCHITECTURE.md shows the code as it is", async () => {
  const page = textOf("ARCHITECTURE.md");
  expect(page, "run `npm run pages`").toBe(await madeAnew("ARCHITECTURE.md", page));
});
