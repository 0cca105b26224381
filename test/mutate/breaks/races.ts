/** Breaks of what keeps two use cases apart that meet: a reservation, a cancel, bytes that are sent again. */
import type { Break } from "../break.ts";

const RESERVE = "src/payments/swap-provider/reserve.ts";
const CANCEL = "src/payments/transactions/cancel-transaction.ts";
const HAS_DEPOSIT = "src/payments/private/collect-strays.ts";
const ATTEMPTS = "src/payments/outgoing/watch-attempts.ts";
const RESENDING = "src/payments/outgoing/resend-queue.ts";
const TRANSACTION_ACTS = "src/payments/operator/transaction-acts.ts";
const SIGNATURES = "src/payments/wallet/watch-signatures.ts";

export const RACE_BREAKS: readonly Break[] = [
  {
    property: "a reservation that was released meanwhile is not kept",
    file: RESERVE,
    text: "set: { lapsesAt: null }, expectedVersion: row.version }",
    replacement: "set: { lapsesAt: null } }",
    tests: ["payments/races/reservations.slow.test.ts"],
  },
  {
    property: "a reservation that is kept at this moment is not released, wherever the two meet",
    file: RESERVE,
    text: "set: { releasedAt: now },\n    expectedVersion: version,",
    replacement: "set: { releasedAt: now },",
    tests: ["payments/races/reservations.slow.test.ts"],
  },
  {
    property: "what is kept of a quote's reservation does not lapse",
    file: RESERVE,
    text: "set: { lapsesAt: null }, expectedVersion",
    replacement: "set: { lapsesAt: row.lapsesAt }, expectedVersion",
    tests: ["payments/races/reservations.slow.test.ts"],
  },
  {
    property: "a cancel asks the chain for the deposit at that very moment",
    file: CANCEL,
    text: 'if (status === "pending" && (await hasDeposit(transaction))) {',
    replacement: 'if (status !== "pending" && (await hasDeposit(transaction))) {',
    tests: ["payments/races/cancelling.slow.test.ts"],
  },
  {
    property: "a cancel counts a deposit that is in the newest block",
    file: HAS_DEPOSIT,
    text: "ledger.seenFunds([deposit.id], mint === null ? [] : [mint]),",
    replacement: 'ledger.funds([deposit.id], mint === null ? [] : [mint], "finalized"),',
    tests: ["payments/races/cancelling.slow.test.ts"],
  },
  {
    property: "a cancel of what is cancelled already is refused",
    file: CANCEL,
    text: 'if (sent.kind === "stepped" && cancelledAt !== null) {',
    replacement: "if (cancelledAt !== null) {",
    tests: ["payments/cancelling.test.ts", "payments/races/second-cancel.slow.test.ts"],
  },
  {
    property: "a transfer's bytes are not sent again at the first look at them",
    file: SIGNATURES,
    text: "absent.filter(({ id }) => before.has(id));",
    replacement: "absent.filter(({ id }) => !before.has(id));",
    tests: ["payments/wallet/watch-signatures.test.ts", "payments/wallet/broadcasting.test.ts"],
  },
  {
    property: "a payment's bytes are not sent again at the first look at them",
    file: ATTEMPTS,
    text: "alive.filter(({ id }) => before.has(id));",
    replacement: "alive.filter(({ id }) => !before.has(id));",
    tests: ["payments/private/watch-attempts.test.ts"],
  },
  {
    property: "a payment's bytes are sent as long as a block may take them",
    file: ATTEMPTS,
    text: 'attempts.filter((each) => deathOf(each, heights, now) === "none")',
    replacement: 'attempts.filter((each) => deathOf(each, heights, now) !== "none")',
    tests: ["payments/private/watch-attempts.test.ts"],
  },
  {
    property: "what the other side of a swap has not signed is not sent",
    file: RESENDING,
    text: "attempts.filter(({ bytes }) => isWhole(bytes))",
    replacement: "attempts.filter(({ bytes }) => bytes.length > 0)",
    tests: ["payments/private/watch-attempts.test.ts"],
  },
  {
    property: "of many unseen bytes those sent longest ago are sent first",
    file: RESENDING,
    text: "sendOf(a) - sendOf(b)",
    replacement: "sendOf(b) - sendOf(a)",
    tests: ["payments/wallet/watch-signatures.test.ts"],
  },
  {
    property: "of two operators who release an address at once one does",
    file: TRANSACTION_ACTS,
    text: "this.#guard(decisionOfAddress(address))",
    replacement: "this.#guard(address)",
    tests: ["payments/operator/transaction-acts.test.ts"],
  },
  {
    property: "of two operators who settle a transaction at once, whose chart has ended, one does",
    file: TRANSACTION_ACTS,
    text: "signature, writes: [guard, audit]",
    replacement: "signature, writes: [audit]",
    tests: ["payments/wallet/evidence.slow.test.ts"],
  },
  {
    property: "a return of tokens stands in the audit log with the step that it makes",
    file: "src/payments/private/order-return.ts",
    text: "{ writes: writesFor(ordered) }",
    replacement: "{}",
    tests: ["payments/operator/transaction-acts.test.ts"],
  },
];
