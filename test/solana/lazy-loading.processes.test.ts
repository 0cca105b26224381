/** The entry is cheap to import: 100 ms of Solana libraries wait until a node is asked. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { program } from "../programs/programs.ts";

test("web3.js is loaded by the first question, not by the import, the factory, the curve test or a derived address", () => {
  const printed = execFileSync(process.execPath, program("first-question"), { encoding: "utf8" });
  expect(JSON.parse(printed)).toEqual({
    pure: [true, 44, 44],
    before: false,
    said: expect.stringContaining("HTTP 403") as string,
    after: true,
  });
});
