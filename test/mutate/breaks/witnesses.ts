/** Breaks of lowering the number of witnesses: when it is refused, what it is never enough for, and how it ends. */
import type { Break } from "../break.ts";

const TESTS = ["payments/operator/lowering.test.ts"];

const PAYERS = ["solana/routing/payers-agreement.test.ts", "payments/private/differing-endpoints.test.ts"];

export const WITNESS_BREAKS: readonly Break[] = [
  {
    property: "a lowered number of witnesses ends by itself",
    file: "src/payments/intake/lowered-witnesses.ts",
    text: "return since <= now && now < until;",
    replacement: "return since <= now;",
    tests: TESTS,
  },
  {
    property: "fewer witnesses than configured never close a marker",
    file: "src/service/service-parts.ts",
    text: "    ask,\n    configured: gate.guard(options.ledger),",
    replacement: "    ask,\n    configured: ledger,",
    tests: TESTS,
  },
  {
    property: "witnesses are not lowered while none is missing",
    file: "src/payments/operator/gates/lowering.ts",
    text: "if (answering >= needed) {",
    replacement: "if (answering > needed) {",
    tests: TESTS,
  },
  {
    property: "witnesses are lowered for a day at most",
    file: "src/payments/operator/gates/lowering.ts",
    text: "z.int().min(1).max(MAX_MINUTES)",
    replacement: "z.int().min(1)",
    tests: TESTS,
  },
  {
    property: "an early end of lowered witnesses is heard of",
    file: "src/service/ledger-in-force.ts",
    text: "now < this.#readAt || now - this.#readAt >= REREAD_MS",
    replacement: "this.#readAt < 0",
    tests: TESTS,
  },
  {
    property: "M18: the entries of a lookup table are those that enough endpoints tell",
    file: "src/solana/agree.ts",
    text: "texts.filter((other) => other === text).length >= nodes.witnesses",
    replacement: "texts.filter((other) => other === text).length >= 1",
    tests: ["solana/agreement.test.ts"],
  },
  {
    property: "M18: tables that differ in the entries of the message are not alike",
    file: "src/solana/resolve-instructions.ts",
    text: "textOf: (keys) => JSON.stringify(keys),",
    replacement: "textOf: (keys) => String(keys?.writable.length),",
    tests: ["solana/agreement.test.ts"],
  },
  {
    property: "M19: the payer is not the one that the preferred endpoint names",
    file: "src/solana/routing/landed-changes.ts",
    text: "agreedChanges(told, nodes.witnesses)",
    replacement: "agreedChanges(told.slice(0, 1), 1)",
    tests: PAYERS,
  },
  {
    property: "M19: the content of a transaction takes the witnesses, and outvotes a lie",
    file: "src/solana/routing/landed-changes.ts",
    text: "shown.filter((each) => each.text === text).length >= needed",
    replacement: "shown.filter((each) => each.text === text).length >= 1",
    tests: PAYERS,
  },
  {
    property: "M19: no archive node is believed against a node that has the history",
    file: "src/solana/routing/landed-changes.ts",
    text: 'told.every(({ changes }) => changes !== "absent") &&',
    replacement: "",
    tests: PAYERS,
  },
  {
    property: "M20: a window stays open while an endpoint tells of a deposit",
    file: "src/payments/private/watch-deposits.ts",
    text: "isOver: isPastEnd && !isDisputed",
    replacement: "isOver: isPastEnd",
    tests: ["payments/private/differing-endpoints.test.ts"],
  },
  {
    property: "M20: the chart closes no window by a disputed reading",
    file: "machines/deposit-address.ts",
    text: "reading.isDisputed !== true",
    replacement: "reading.isDisputed !== false",
    tests: ["machines/deposit-address.test.ts"],
  },
  {
    property: "M20: an endpoint out of service is not asked",
    file: "src/solana/ledger-of-nodes.ts",
    text: "!without.includes(name)",
    replacement: "!without.includes(name.slice(1))",
    tests: ["payments/private/differing-endpoints.test.ts"],
  },
  {
    property: "M33: confirmed takes the witnesses",
    file: "src/solana/statuses.ts",
    text: "return shown.length >= nodes.witnesses;",
    replacement: "return shown.length >= 1;",
    tests: ["solana/agreement.test.ts", "payments/private/differing-endpoints.test.ts"],
  },
  {
    property: "M34: the error of a simulation takes the witnesses",
    file: "src/solana/agree.ts",
    text: "texts.filter((text) => text === texts[index]).length >= nodes.witnesses",
    replacement: "texts.filter((text) => text === texts[index]).length >= 1",
    tests: ["solana/agreement.test.ts"],
  },
  {
    property: "a cancel needs as many endpoints that show no deposit as must agree",
    file: "src/solana/routing/funds.ts",
    text: "return await weigh(nodes, question, (told) => vouchedFor(told, asked, 1));",
    replacement:
      "return await weigh({ ...nodes, witnesses: 1 }, question, (told) => vouchedFor(told, asked, 1));",
    tests: ["solana/routing/agreed-funds.test.ts"],
  },
  {
    property: "a deposit that any endpoint shows in its newest block keeps an order from being cancelled",
    file: "src/solana/routing/funds.ts",
    text: "return await weigh(nodes, question, (told) => vouchedFor(told, asked, 1));",
    replacement: "return await weigh(nodes, question, (told) => vouchedFor(told, asked, told.length));",
    tests: ["solana/routing/agreed-funds.test.ts"],
  },
  {
    property: "what endpoints say that stand still contradicts nobody",
    file: "src/solana/moving-on.ts",
    text: "moving.length >= nodes.witnesses ? moving : all",
    replacement: "all",
    tests: ["solana/standing-still.test.ts"],
  },
  {
    property: "where too few endpoints move on none that stands still is left out",
    file: "src/solana/moving-on.ts",
    text: "moving.length >= nodes.witnesses ? moving : all",
    replacement: "moving.length > 0 ? moving : all",
    tests: ["solana/standing-still.test.ts"],
  },
  {
    property: "an endpoint stands still once it has not moved for ten minutes",
    file: "src/solana/health.ts",
    text: ">= STANDS_STILL_AFTER_MS",
    replacement: ">= 0",
    tests: ["solana/standing-still.test.ts"],
  },
  {
    property: "endpoints that contradict each other about a marker are told at once",
    file: "src/solana/routing/marker-differences.ts",
    text: "if (isDisputed) noteDifference",
    replacement: "if (isDisputed && told.length === 0) noteDifference",
    tests: ["solana/standing-still.test.ts"],
  },
  {
    property: "an endpoint that is behind contradicts nobody about a marker",
    file: "src/solana/routing/marker-differences.ts",
    text: 'after === "unmade" && earlier.slot <= later.slot',
    replacement: 'after === "unmade"',
    tests: ["solana/standing-still.test.ts"],
  },
];
