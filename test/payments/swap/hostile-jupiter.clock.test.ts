/** Q4: answers made to stop whoever reads them, from Jupiter. */
// modules: swap/jupiter
import { expect, test } from "vitest";
import { JupiterClient } from "../../../src/payments/swap/jupiter/jupiter-client.ts";
import { expectHarmless, HOSTILE_ANSWERS } from "../../solana/hostile-answers.ts";

test.each(Object.entries(HOSTILE_ANSWERS))("Q4: from Jupiter: %s", async (_, answer) => {
  const client = new JupiterClient({
    apiKey: "key",
    url: "https://jupiter.example",
    fetch: async () => answer(),
    ask: async (_part, call) => await call(new AbortController().signal),
  });
  await expectHarmless(
    async () => await expect(client.execute(new Uint8Array(1), "id")).rejects.toThrow("expected JSON"),
  );
});
