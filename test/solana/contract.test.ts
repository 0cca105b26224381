/** The Solana ledger passes the published contract whole, over all ways to a chain. */
import { describe, test } from "vitest";
import { ledgerContract } from "../contracts/ledger.ts";
import { sampled } from "../kit/thorough.ts";
import { solanaWorld } from "../kit/solana-world.ts";

const WAYS = ["in process", "over HTTP", "in batches over HTTP"] as const;

describe.each(sampled(WAYS, "ledger contract"))("ledger contract: Solana, %s", (transport) => {
  test.each(ledgerContract)("$name", ({ run }) => run(() => solanaWorld(transport)));
});
