/** The renderer of the API's page is that of the package it comes from, with its licence. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const require = createRequire(import.meta.url);
const SOURCE = dirname(require.resolve("openapi-explorer/package.json"));
const COPY = new URL("../../../src/http/docs/renderer/", import.meta.url);

test.each([
  ["openapi-explorer.min.js", "dist/browser/openapi-explorer.min.js"],
  ["LICENSE", "LICENSE"],
])("%s is a copy, to the byte", (copy, original) => {
  expect(readFileSync(new URL(copy, COPY)).equals(readFileSync(join(SOURCE, original)))).toBe(true);
});
