/** The page that walks through the shop shows the shop as it is. */
import { expect, test } from "vitest";
import { textOf } from "./page.ts";

const PAGE = "examples/README.md";
const FOLDER = "examples/shop";

test("U16: each block of the tutorial stands word for word in the file that its fence names", () => {
  const blocks = [...textOf(PAGE).matchAll(/^```(?:ts|js) (\S+)\n([\s\S]*?)^```$/gm)];
  expect(blocks.length).toBeGreaterThan(3);
  for (const [, file = "", code = ""] of blocks) expect(textOf(`${FOLDER}/${file}`)).toContain(code);
});
