/** Breaks of swaps: prices, inventory, reservations, and what the desk signs. */
import type { Break } from "../break.ts";

export const SWAP_BREAKS: readonly Break[] = [
  {
    property: "the least output of a private swap is rounded up",
    file: "src/payments/quotes/price-swap.ts",
    text: "BigInt(slippageBps)) + BPS - 1n) / BPS",
    replacement: "BigInt(slippageBps))) / BPS",
    tests: ["payments/swap/swap-promises.test.ts"],
  },
  {
    property: "the routing fee of a private swap is rounded up",
    file: "src/payments/quotes/price-swap.ts",
    text: "(amount * BigInt(feeBps) + BPS - 1n) / BPS",
    replacement: "(amount * BigInt(feeBps)) / BPS",
    tests: ["payments/swap/swap-promises.test.ts"],
  },
  {
    property: "a confirmed swap that a fork has undone is not begun again",
    file: "src/payments/swap/route-exchange.ts",
    text: 'if (view.transaction.status === "confirmed") return giveUp("LIQUIDITY_UNAVAILABLE");',
    replacement: "",
    tests: ["payments/swap/swap-promises.test.ts"],
  },
  {
    property: "only final inventory is sold",
    file: "src/payments/swap-provider/desk-inventory.ts",
    text: 'ledger.funds([desk], mints, "finalized")',
    replacement: 'ledger.funds([desk], mints, "confirmed")',
    tests: ["payments/swap/swap-promises.test.ts"],
  },
  {
    property: "a reservation that was kept meanwhile is not released as lapsed",
    file: "src/payments/swap-provider/reserve.ts",
    text: "set: { releasedAt: now },\n        expectedVersion: version,",
    replacement: "set: { releasedAt: now },",
    tests: ["payments/swap/swap-promises.test.ts"],
  },
  {
    property: "the same swap bytes under another quote are refused",
    file: "src/payments/swap/read-signed-exchange.ts",
    text: "transaction.signatures.length === signers.length && Buffer.from(transaction.message).equals(message)",
    replacement: "transaction.signatures.length === signers.length",
    tests: ["payments/swap/swap-promises.test.ts"],
  },
  {
    property: "a swap whose bytes are known already is a duplicate",
    file: "src/payments/transactions/create-transaction.ts",
    text:
      "const known = await storage.attemptLike(signed.verified.signature, signed.verified.messageHash);\n" +
      "    if (known !== null)",
    replacement: "const known = null;\n    if (known !== null)",
    tests: ["payments/swap/swap-promises.test.ts"],
  },
  {
    property: "the desk's spread is rounded up",
    file: "src/payments/swap-provider/constant-product.ts",
    text: "(amount * BigInt(spreadBps) + BPS - 1n) / BPS",
    replacement: "(amount * BigInt(spreadBps)) / BPS",
    tests: ["payments/swap/desk-prices.test.ts"],
  },
  {
    property: "what is promised is not sold again",
    file: "src/payments/swap-provider/desk-at-work.ts",
    text: "least(inventory.get - inventory.promised, share - toOne)",
    replacement: "least(inventory.get, share - toOne)",
    tests: ["payments/swap/reservations.test.ts"],
  },
  {
    property: "one account takes up a tenth of the inventory at most",
    file: "src/payments/swap-provider/desk-at-work.ts",
    text: "ACCOUNT_SHARE = 10n",
    replacement: "ACCOUNT_SHARE = 9n",
    tests: ["payments/swap/reservations.test.ts"],
  },
  {
    property: "a private swap below its least output is not made",
    file: "src/payments/swap/route-exchange.ts",
    text: "if (outputAmount < quote.minOutputAmount) return",
    replacement: "if (outputAmount < 0n) return",
    tests: ["payments/swap/private-swap.test.ts"],
  },
  {
    property: "a private swap gives what the fees have left",
    file: "src/payments/swap/route-exchange.ts",
    text: "quote.inputAmount - quote.networkFee - quote.routingFee - quote.rent",
    replacement: "quote.inputAmount - quote.networkFee - quote.routingFee",
    tests: ["payments/swap/private-swap.test.ts"],
  },
  {
    property: "nothing is co-signed for a swap that is over",
    file: "src/payments/swap/complete-exchange.ts",
    text: 'if (view.transaction.status !== "pending") return null;',
    replacement: "",
    tests: ["payments/swap/wallet-swap.test.ts", "payments/swap/moving-prices.test.ts"],
  },
  {
    property: "nothing is co-signed at a price that has moved too far",
    file: "src/payments/swap/complete-exchange.ts",
    text: "if (!(await isStillGood(exchanger, offered))) {",
    replacement: "if (offered.inputAmount < 0n) {",
    tests: ["payments/swap/moving-prices.test.ts"],
  },
  {
    property: "inventory is set aside for a quote for two minutes at most",
    file: "src/payments/quotes/price-swap.ts",
    text: "LONGEST_HOLD_MS = 2 * 60_000",
    replacement: "LONGEST_HOLD_MS = 3 * 60_000",
    tests: ["payments/swap/reservations.test.ts"],
  },
  {
    property: "what a swap has given counts against the day",
    file: "src/payments/swap-provider/reserve.ts",
    text: "if (countsForMs === 0) return",
    replacement: "if (countsForMs >= 0) return",
    tests: ["payments/swap/desk-limits.test.ts"],
  },
];
