/** Breaks of what an operator's word may do with orders of a restored copy, and with what another copy has paid. */
import type { Break } from "../break.ts";

const RELEASES = ["payments/private/restored-release.test.ts"];

export const RESTORED_BREAKS: readonly Break[] = [
  {
    property: "M22: what an address was once seen to have signed stays known when nodes are silent",
    file: "src/payments/outgoing/unknown-spending.ts",
    text: "const before = await storage.unknownSignatures(address);",
    replacement: "const before: readonly string[] = [];",
    tests: RELEASES,
  },
  {
    property: "M22: an open order that is held for its spending is not released while nothing is listed",
    file: "src/payments/private/release-deposit.ts",
    text: "if (unknown.length === 0 && deposit.heldReason === UNKNOWN_SPENDING) {",
    replacement: "if (unknown.length < 0 && deposit.heldReason === UNKNOWN_SPENDING) {",
    tests: RELEASES,
  },
  {
    property: "M32: a release names the time that the operator vouches for",
    file: "src/payments/private/release-deposit.ts",
    text: "vouchedTime: time === null ? null : { from: isoTime(time.from), to: isoTime(time.to) },",
    replacement: "vouchedTime: null,",
    tests: RELEASES,
  },
];
