/** Breaks of the charts that decide about money. */
import type { Break } from "../break.ts";

export const CHART_BREAKS: readonly Break[] = [
  {
    property: "news says which attempt it is about, and of another one is ignored",
    file: "machines/payment.ts",
    text: "params.about !== context.signature",
    replacement: "params.about === context.address",
    tests: ["machines/payment.test.ts"],
  },
  {
    property: "after a refund the next one waits",
    file: "machines/deposit-address.ts",
    text: "mayRefund: !hasRefunded",
    replacement: "mayRefund: hasRefunded || true",
    tests: ["machines/deposit-address.test.ts", "payments/private/windows.slow.test.ts"],
  },
  {
    property: "a wallet transfer that failed on the chain is not completed",
    file: "machines/wallet-transfer.ts",
    text: "params.error === null",
    replacement: "params.error !== undefined",
    tests: ["machines/wallet-transfer.test.ts"],
  },
  {
    property: "what came in never shrinks",
    file: "machines/deposit-tally.ts",
    text: "return now > before ? now : before;",
    replacement: "return now;",
    tests: ["machines/deposit-address.test.ts"],
  },
  {
    property: "a reading from before the last payment is no news",
    file: "machines/deposit-tally.ts",
    text: "return slot >= settledSlot;",
    replacement: "return slot >= 0 || settledSlot >= 0;",
    tests: ["machines/deposit-address.test.ts"],
  },
  {
    property: "bytes signed meanwhile make markers young again",
    file: "machines/deposit-address-context.ts",
    text: 'lane: lane === "lingering" ? lane : "aging", closeAbove: null }',
    replacement: "lane }",
    tests: ["machines/deposit-address.test.ts"],
  },
  {
    property: "an order with an unpaid recipient is not completed",
    file: "machines/private-transfer.ts",
    text: "isThrough(context) && context.unpaid === 0 && context.paid > 0",
    replacement: "isThrough(context) && context.paid > 0",
    tests: ["machines/private-transfer.test.ts"],
  },
  {
    property: "an order that paid no recipient keeps no fee",
    file: "machines/private-transfer.ts",
    text: 'event: { type: "OVER", fee: context.paid > 0 ? context.fee : "0" }',
    replacement: 'event: { type: "OVER", fee: context.fee }',
    tests: ["machines/private-transfer.test.ts", "payments/private/deposits.test.ts"],
  },
  {
    property: "an order is not cancelled once its deposit was seen",
    file: "machines/private-transfer.ts",
    text: 'DEPOSIT_SEEN: "depositDetected",',
    replacement: "DEPOSIT_SEEN: {},",
    tests: ["machines/private-transfer.test.ts"],
  },
  {
    property: "nothing is signed again while an attempt may land",
    file: "machines/payment.ts",
    text: "isDead: (_, { isDead }: Death) => isDead,",
    replacement: "isDead: (_, { isDead }: Death) => isDead || true,",
    tests: ["machines/payment.test.ts"],
  },
  {
    property: "a transfer is not cancelled once its broadcast has begun",
    file: "machines/wallet-transfer.ts",
    text: '        CONFIRMED: "confirmed",\n',
    replacement: '        CONFIRMED: "confirmed",\n        CANCEL: "cancelled",\n',
    tests: ["machines/wallet-transfer.test.ts"],
  },
];
