/** The page of the Solana ledger lists every read of the chain, as the table in the code has it. */
import { expect, test } from "vitest";
import { READS } from "../../src/ledger/reads.ts";
import { codeIn, tableOf } from "./page.ts";

test("every read of the chain, what its answer is, whose word it is, and what it decides", () => {
  const rows = tableOf("src/solana/README.md", "### Every read").map(([read, ...rule]) => [
    codeIn(read)[0],
    ...rule,
  ]);
  expect(rows).toEqual(
    Object.entries(READS).map(([read, { belief, witnesses, decides }]) => [read, belief, witnesses, decides]),
  );
});
