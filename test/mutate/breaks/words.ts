/** Breaks of what the word of an operator covers, and of how it ends. */
import type { Break } from "../break.ts";

const VOUCHED = "src/payments/private/vouched-funds.ts";
const RELEASE = "src/payments/private/release-deposit.ts";
const OTHER_MINTS = ["payments/private/other-mints.slow.test.ts"];
const LARGE_WORDS = ["payments/operator/large-words.slow.test.ts"];
const SUSPENDING = ["payments/operator/suspending-endpoints.test.ts"];
const TAKEN_BACK = ["payments/operator/taken-back.test.ts"];

export const WORD_BREAKS: readonly Break[] = [
  {
    property: "what an effect concluded before another step is not committed after it",
    file: "src/engine/step-handler.ts",
    text: "if (instance.version !== expectedVersion) {",
    replacement: "if (instance.version > expectedVersion + 100) {",
    tests: ["engine/effects.test.ts", ...TAKEN_BACK],
  },
  {
    property: "an effect names the version that it has looked at",
    file: "src/engine/perform-task.ts",
    text: "expectedVersion === undefined ? {} : { expectedVersion }",
    replacement: "expectedVersion === undefined ? {} : {}",
    tests: ["engine/effects.test.ts"],
  },
  {
    property: "a word is given at the step at which the money was read",
    file: RELEASE,
    text: "{ writes, expectedVersion }",
    replacement: "{ writes }",
    tests: TAKEN_BACK,
  },
  {
    property: "a refund elsewhere that was planned under an older word starts no payment",
    file: "src/payments/private/settle-address.ts",
    text: ", expectedVersion: version }",
    replacement: " }",
    tests: TAKEN_BACK,
  },
  {
    property: "no release says to the sender while a refund elsewhere is under way",
    file: VOUCHED,
    text: "if (heldReason === null && readPlan(row.plan).word !== undefined) return true;",
    replacement: "",
    tests: TAKEN_BACK,
  },
  {
    property: "no release of a held address overtakes a signed refund that may still land",
    file: VOUCHED,
    text: "attempt.lastValidBlockHeight >= agreed",
    replacement: "attempt.lastValidBlockHeight < agreed",
    tests: TAKEN_BACK,
  },
  {
    property: "a refund elsewhere whose word was taken back is not signed",
    file: "src/payments/outgoing/signing-anew.ts",
    text: "?.id !== word",
    replacement: "?.id === word",
    tests: TAKEN_BACK,
  },
  {
    property: "no more tokens are returned than the operator has named",
    file: "src/payments/private/order-return.ts",
    text: ", atMost: String(amount) }",
    replacement: " }",
    tests: OTHER_MINTS,
  },
  {
    property: "tokens are returned under words that no copy of the database has used",
    file: "src/payments/outgoing/plans/plan-return.ts",
    text: 'markers[index] === "unmade"',
    replacement: 'markers[index] !== "disputed"',
    tests: ["payments/private/returned-elsewhere.slow.test.ts"],
  },
  {
    property: "what came after a word is read, however much the word covers",
    file: "src/solana/routing/payers-of.ts",
    text: "search.after === undefined || !look.hasMoreAfter(search.after)",
    replacement: "true",
    tests: LARGE_WORDS,
  },
  {
    property: "a word of an earlier version says of no transaction when it came",
    file: VOUCHED,
    text: "slot ?? 0",
    replacement: "slot ?? Infinity",
    tests: LARGE_WORDS,
  },
  {
    property: "a word says up to which slot it covers what came",
    file: RELEASE,
    text: "return { address, slot, signatures",
    replacement: "return { address, slot: slot === null ? null : slot + 1_000_000, signatures",
    tests: LARGE_WORDS,
  },
  {
    property: "no word is given while a payment of the address may land",
    file: VOUCHED,
    text: "if (await isUnderWay({ storage, ledger }, deposit, context.underWay)) return null;",
    replacement: "",
    tests: LARGE_WORDS,
  },
  {
    property: "a word that fewer endpoints decide about covers what was written down before",
    file: VOUCHED,
    text: "isLowered ? writtenPart(found) : found",
    replacement: "found",
    tests: LARGE_WORDS,
  },
  {
    property: "a named landing has failed by the word of as many endpoints as must agree",
    file: "src/solana/landings.ts",
    text: "landed.length >= witnesses",
    replacement: "landed.length >= 1",
    tests: ["solana/evidence.test.ts"],
  },
  {
    property: "a screening that began before a release holds nothing after it",
    file: "src/payments/private/deposit-address-workflow.ts",
    text: "return { event, expectedVersion };",
    replacement: "return { event };",
    tests: TAKEN_BACK,
  },
  {
    property: "addresses that were written off hide none that is held",
    file: "src/payments/operator/attention/held-addresses.ts",
    text: "page.length < PAGE || found.length >= limit",
    replacement: "page.length <= PAGE || found.length >= limit",
    tests: ["payments/operator/written-off.test.ts"],
  },
  {
    property: "a suspension stands though the clock of another process is behind",
    file: "src/payments/operator/gates/suspending-endpoints.ts",
    text: "each.endpoint !== endpoint && now < each.until",
    replacement: "each.endpoint !== endpoint && each.since <= now && now < each.until",
    tests: SUSPENDING,
  },
  {
    property: "a suspension that has ended takes no endpoint out of service",
    file: "src/payments/operator/gates/suspending-endpoints.ts",
    text: "each.endpoint !== endpoint && now < each.until",
    replacement: "each.endpoint !== endpoint",
    tests: SUSPENDING,
  },
  {
    property: "an endpoint out of service is no witness that answers",
    file: "src/payments/operator/gates/lowering.ts",
    text: "restricted({ witnesses: null, without })",
    replacement: "restricted({ witnesses: null, without: without.slice(1) })",
    tests: SUSPENDING,
  },
  {
    property: "no request is put over a decision",
    file: "src/payments/operator/resolve/resolve.ts",
    text: "this.#guard(matter.id, before, text)",
    replacement: "this.#guard(matter.id, await storage.decision(decisionOf(matter.id)), text)",
    tests: TAKEN_BACK,
  },
  {
    property: "a name that mixes alphabets that look alike is refused",
    file: "src/payments/shown-words.ts",
    text: "alphabet.test(name)).length <= 1",
    replacement: "alphabet.test(name)).length <= 2",
    tests: ["payments/shown-words.test.ts"],
  },
  {
    property: "what is no id of a matter is refused by name",
    file: "src/payments/operator/resolve/resolve.ts",
    text: 'z.string("id: expected the id of a matter")',
    replacement: 'z.any({ error: "id: expected the id of a matter" })',
    tests: ["payments/shown-words.test.ts"],
  },
];
