/** Breaks of the rules of markers: which accounts are kept, when they are closed, when words are signed anew. */
import type { Break } from "../break.ts";

const KEPT = "src/payments/outgoing/plans/kept-accounts.ts";
const CLOSING = "src/payments/outgoing/closing.ts";
const CLOSING_TESTS = ["payments/private/closing.test.ts"];
const KEPT_TESTS = ["payments/private/kept-markers.test.ts"];

export const MARKER_BREAKS: readonly Break[] = [
  {
    property: "M23: the deposit key signs no plan that takes from a marker",
    file: "src/payments/outgoing/payment-effects.ts",
    text: "if (this.#takesFromMarkers(inHand)) return",
    replacement: "if (this.#takesFromMarkers(inHand) && failures < 0) return",
    tests: KEPT_TESTS,
  },
  {
    property: "M23: wrapped SOL beside the associated account counts as a marker",
    file: KEPT,
    text: "this.#markers.has(account) || (mint === SOL_MINT && account !== this.#associated)",
    replacement: "this.#markers.has(account)",
    tests: KEPT_TESTS,
  },
  {
    property: "M23: a marker of the order is kept, whatever mint is told of it",
    file: KEPT,
    text: "this.#markers.has(account) || (mint === SOL_MINT && account !== this.#associated)",
    replacement: "mint === SOL_MINT && account !== this.#associated",
    tests: KEPT_TESTS,
  },
  {
    property: "M23: an account is closed only where a transfer out of it proves its mint",
    file: KEPT,
    text: "return !isMintProved || this.keeps(beside);",
    replacement: "return isMintProved && this.keeps(beside);",
    tests: KEPT_TESTS,
  },
  {
    property: "M23: an operator's return leaves markers where they are",
    file: "src/payments/outgoing/plans/plan-return.ts",
    text: "    .filter(({ address: account }) => !kept.keeps({ account, mint }))\n",
    replacement: "",
    tests: KEPT_TESTS,
  },
  {
    property: "M23: what strangers wrap on markers is no deposit",
    file: "src/payments/outgoing/plans/other-mints.ts",
    text: "mint === SOL_MINT ? wrapped : amount] as const)",
    replacement: "mint === SOL_MINT && wrapped < 0n ? wrapped : amount] as const)",
    tests: KEPT_TESTS,
  },
  {
    property: "M23: markers stand until every version of their payments can land no more",
    file: CLOSING,
    text: "Math.max(closeAbove, ...versions.map(lastHeight))",
    replacement: "closeAbove",
    tests: CLOSING_TESTS,
  },
  {
    property: "M23: not the newest version alone decides when markers are closed",
    file: CLOSING,
    text: "return signatures ?? (newest === null ? [] : [newest]);",
    replacement: "return newest === null ? (signatures ?? []) : [newest];",
    tests: CLOSING_TESTS,
  },
  {
    property: "M23: markers stand for an hour after the last version",
    file: CLOSING,
    text: "if (age >= 0 && age < AGING_MS) return false;",
    replacement: "",
    tests: CLOSING_TESTS,
  },
  {
    property: "M23: a sweep is signed only while its markers may be closed",
    file: "src/payments/outgoing/payment-effects.ts",
    text: "    await this.#refuseEarlyClosing(inHand);\n",
    replacement: "",
    tests: CLOSING_TESTS,
  },
];
