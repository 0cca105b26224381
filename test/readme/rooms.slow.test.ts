/** The page of the architecture draws the rooms, and who imports whom, as they are. */
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { madeAnew } from "./generated.ts";
import { ROOT, textOf } from "./page.ts";

/** What draws them is there once the foreign tests are installed. */
const CAN_DRAW = existsSync(`${ROOT}test/foreign/node_modules/dependency-cruiser`);

test.runIf(CAN_DRAW)("U15: ARCHITECTURE.md shows the code as it is", async () => {
  const page = textOf("ARCHITECTURE.md");
  expect(page, "run `npm run pages`").toBe(await madeAnew("ARCHITECTURE.md", page));
});
