/** Breaks of what an operator's word may do with orders of a restored copy, and with what another copy has paid. */
import type { Break } from "../break.ts";

const RELEASES = ["payments/private/restored-release.test.ts"];
const PLANS = ["payments/private/restored-plan.test.ts"];

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
    text: "if (await isDeclinedPayment(storage, row)) return",
    replacement: "if (false) return",
    tests: RELEASES,
  },
  {
    property: "M10: no payment to a recipient of a declined order is planned",
    file: "src/payments/outgoing/declined.ts",
    text: "if (view === null || (await isPaid(view))) return routing.route(transactionId);",
    replacement: "return routing.route(transactionId);",
    tests: DECLINING,
  },
  {
    property: "M32: a declined order that another copy has paid is told as paid",
    file: "src/payments/private/release-deposit.ts",
    text: "!(isOpen && (await elsewhere.hasPaidRecipients(deposit, view.payments, explained)))",
    replacement: "true",
    tests: RELEASES,
  },
  {
    property: "M32: no window closes over an order that another copy has paid",
    file: "src/payments/private/settle-address.ts",
    text: 'isPaid ? "PAID_ELSEWHERE" : "NOTHING_STRAY"',
    replacement: 'isPaid ? "NOTHING_STRAY" : "NOTHING_STRAY"',
    tests: RELEASES,
  },
  {
    property: "M32: a plan of payouts of another copy is known by what it moved: nothing",
    file: "src/payments/outgoing/paid-elsewhere.ts",
    text: "return moved >= 0n;",
    replacement: "return false;",
    tests: RELEASES,
  },
  {
    property: "M32: the refund of another copy is no payment of its recipients",
    file: "src/payments/outgoing/paid-elsewhere.ts",
    text: "if (marker.delegate === null) return true;",
    replacement: "return true;",
    tests: RELEASES,
  },
  {
    property: "M28: a payout that meets the refund of another copy is given up",
    file: "src/payments/outgoing/paid-elsewhere.ts",
    text: 'if (!isOwnRefund) return refund === null ? null : "foreclosed";',
    replacement: "if (!isOwnRefund) return null;",
    tests: RELEASES,
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
    text: 'if (typeof marker !== "object") continue;',
    replacement: 'if (typeof marker !== "object") { standing.add(words); continue; }',
    tests: RELEASES,
  },
  {
    property: "M32: the order's own marker recognises what another copy has paid before anything was planned",
    file: "src/payments/private/repeatable-spending.ts",
    text: "new Set([ORDER_WORDS, ...open, excessWords(1)])",
    replacement: "new Set([...open, excessWords(1)])",
    tests: RELEASES,
  },
  {
    property: "M32: the payments of a plan of another copy are recognised at the release",
    file: "src/payments/private/repeatable-spending.ts",
    text: "next.push(...(plan?.leaves ?? []).map((leaf) => leaf.words));",
    replacement: "",
    tests: PLANS,
  },
  {
    property: "M32: each refund of excess of another copy is recognised at the release",
    file: "src/payments/private/repeatable-spending.ts",
    text: "if (words === excessWords(depth)) next.push(excessWords(depth + 1));",
    replacement: "",
    tests: PLANS,
  },
  {
    property: "M32: a plan of another copy that leaves out payees is known by its marker",
    file: "src/payments/outgoing/planned-elsewhere.ts",
    text: "=== delegate) return plan;",
    replacement: "!== delegate) return plan;",
    tests: PLANS,
  },
  {
    property: "M32: a plan that was signed here and lost becomes the plan of another copy",
    file: "src/payments/outgoing/read-outcome.ts",
    text: "const mayBeOurs = delegate === null && candidates",
    replacement: "const mayBeOurs = candidates",
    tests: PLANS,
  },
  {
    property: "M32: a payout follows the plan of another copy instead of being given up",
    file: "src/payments/private/route-order.ts",
    text: "(await this.#followElsewhere(view, row)) ?? given(unpaidOf(view, plan))",
    replacement: "given(unpaidOf(view, plan))",
    tests: PLANS,
  },
  {
    property: "M32: a plan that becomes another copy's names that copy's payments",
    file: "src/payments/outgoing/paid-elsewhere.ts",
    text: "writePlan({ ...own, moves, leaves, leftOut })",
    replacement: "writePlan({ ...own, moves })",
    tests: PLANS,
  },
  {
    property: "M32: a marker that was closed after the release refuses the payment all the same",
    file: "src/payments/outgoing/payment-effects.ts",
    text: 'return maker !== null && maker !== "foreign";',
    replacement: "return false;",
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
    property: "M15: a refund that meets what another copy has paid is given up on an operator's word",
    file: "src/payments/outgoing/paid-elsewhere.ts",
    text: 'return refund ?? (delegate === null ? "foreclosed" : null);',
    replacement: 'return refund ?? (isExcess(words) && delegate === null ? "foreclosed" : null);',
    tests: ["payments/operator/recovered-marker.test.ts"],
  },
  {
    property: "M15: what another copy has paid is open no more, so that the rest is excess",
    file: "src/payments/private/settle-address.ts",
    text: "return this.#elsewhere.hasPaid(deposit, words, view.payments);",
    replacement: "return false;",
    tests: ["payments/operator/recovered-marker.test.ts"],
  },
  {
    property: "M32: the money of a declined order waits until its payouts have ended",
    file: "src/payments/private/settle-address.ts",
    text: "if (hasOpenForRecipients(view.payments)) {",
    replacement: "if (false) {",
    tests: RELEASES,
  },
  {
    property: "M32: a recipient whom a recovery finds paid is counted as unpaid no more",
    file: "src/payments/outgoing/read-outcome.ts",
    text: 'const isPlan = row.kind === "plan" && !isRecovery(row);',
    replacement: 'const isPlan = row.kind === "plan";',
    tests: RELEASES,
  },
  {
    property: "M32: a release names the time that the operator vouches for",
    file: "src/payments/private/release-deposit.ts",
    text: "vouchedTime: time === null ? null : { from: isoTime(time.from), to: isoTime(time.to) },",
    replacement: "vouchedTime: null,",
    tests: RELEASES,
  },
  {
    property:
      "M10: a signature is committed only while the address is as it was when the payment was looked at",
    file: "src/payments/outgoing/payment-effects.ts",
    text: '{ table: "deposits", id: deposit.id, expectVersion: deposit.version },',
    replacement: "",
    tests: ["payments/operator/declining.test.ts"],
  },
];
