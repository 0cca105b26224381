/** Breaks of what an operator's word may do with orders of a restored copy, and with what another copy has paid. */
import type { Break } from "../break.ts";

const RELEASES = ["payments/private/restored-release.test.ts"];

const DECLINING = ["payments/operator/declining.test.ts"];

export const RESTORED_BREAKS: readonly Break[] = [
  {
    property: "M22: what an address was once seen to have signed stays known when nodes are silent",
    file: "src/payments/outgoing/unknown-spending.ts",
    text: "const before = await storage.unknownSignatures(address);",
    replacement: "const before: readonly string[] = [];",
    tests: RELEASES,
  },
  {
    property: "M32: no payment to a recipient of a declined order is signed",
    file: "src/payments/outgoing/payment-effects.ts",
    text: "if (isTakenBack || (await isDeclinedPayment(storage, row))) {",
    replacement: "if (isTakenBack) {",
    tests: RELEASES,
  },
  {
    property: "M10: no payment to a recipient of a declined order is planned",
    file: "src/payments/outgoing/declined.ts",
    text: "return view === null ? routing.route(transactionId) : givenUp(view.recipients.length);",
    replacement: "return routing.route(transactionId);",
    tests: DECLINING,
  },
  {
    property: "M10: an order with a signed payment to a recipient is not declined",
    file: "src/service/open-operator.ts",
    text: "return view !== null && !hasSignedForRecipients(view.payments);",
    replacement: "return view !== null;",
    tests: DECLINING,
  },
  {
    property: "M22: an order stays declined when its receiver is taken back",
    file: "src/payments/outgoing/declined.ts",
    text: "return (await storage.vouchings(address)).some(({ refundTo }) => refundTo !== null);",
    replacement:
      "return (await storage.vouchings(address)).slice(-1).some(({ refundTo }) => refundTo !== null);",
    tests: DECLINING,
  },
  {
    property: "M32: a marker that was swept recognises nothing",
    file: "src/payments/private/repeatable-spending.ts",
    text: 'typeof markers[index] === "object"',
    replacement: "markers[index] !== undefined",
    tests: RELEASES,
  },
  {
    property: "M32: the order's own marker recognises what another copy has paid before anything was planned",
    file: "src/payments/private/repeatable-spending.ts",
    text: "new Set([ORDER_WORDS, ...open])",
    replacement: "new Set(open)",
    tests: RELEASES,
  },
  {
    property: "M10: an open order that was written off binds its cost again when it is released",
    file: "src/payments/private/release-deposit.ts",
    text: "...(paysOn ? await boundAgain(storage, deposit) : []),",
    replacement: "",
    tests: ["payments/operator/resolve.test.ts"],
  },
  {
    property: "M32: a release names the time that the operator vouches for",
    file: "src/payments/private/release-deposit.ts",
    text: "vouchedTime: time === null ? null : { from: isoTime(time.from), to: isoTime(time.to) },",
    replacement: "vouchedTime: null,",
    tests: RELEASES,
  },
];
