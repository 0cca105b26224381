/** The page of the Solana ledger lists every read of the chain, as the table in the code has it. */
import { expect, test } from "vitest";
import { READS } from "../../src/ledger/reads.ts";
import { codeIn, tableOf } from "./page.ts";

test("every read of the chain, whom it believes, and what its answer decides", () => {
  const rows = tableOf("src/solana/README.md", "### Every read").map(([read, belief, decides]) => [
    ...[codeIn(read)[0], belief, decides],
  ]);
  expect(rows).toEqual(Object.entries(READS).map(([read, { belief, decides }]) => [read, belief, decides]));
});
