/** M35: what an operator has said of a deposit address under the first version of its chart, and what the present one makes of it. */
import { expect, test } from "vitest";
import { addressOf } from "../../../src/address.ts";
import { fromFirstVersion } from "../../../src/payments/private/deposit-address-workflow.ts";

const SAFE = addressOf(new Uint8Array(32).fill(7));

/** A stored address of the first version: of 5,000 USDC units that came 3,000 were paid out. */
function migrated(word: { readonly isReleased: boolean; readonly refundTo: typeof SAFE | null }) {
  const counted = { received: { usdc: "5000", sol: "0" }, spent: { usdc: "3000" } };
  const context = { ...counted, ...word } as unknown as Parameters<typeof fromFirstVersion>[0]["context"];
  return fromFirstVersion({ id: "address", value: "held", context, version: 1, now: 9 } as never);
}

test("M35: a redirect of the first version allows what was left by then, and later money is judged anew", () => {
  const { context, writes } = migrated({ isReleased: true, refundTo: SAFE });
  expect(writes).toEqual([
    {
      table: "vouchings",
      insert: {
        id: "address:1",
        address: "address",
        step: 1,
        at: 9,
        slot: null,
        signatures: [],
        came: { usdc: "5000", sol: "0" },
        refundTo: SAFE,
        allowed: { usdc: "2000", sol: "0" },
      },
    },
  ]);
  expect(context).not.toHaveProperty("isReleased");
  expect(context).not.toHaveProperty("refundTo");
});

test("M22: a release of the first version vouches for what had come, and sends nothing elsewhere", () => {
  const { writes } = migrated({ isReleased: true, refundTo: null });
  expect(writes).toMatchObject([
    { insert: { came: { usdc: "5000", sol: "0" }, refundTo: null, allowed: null } },
  ]);
});

test("without an operator's word nothing is written", () => {
  expect(migrated({ isReleased: false, refundTo: null }).writes).toBeUndefined();
});
