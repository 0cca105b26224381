/** Breaks of the rules of markers: which accounts are kept, when they are closed, when words are signed anew. */
import type { Break } from "../break.ts";

const KEPT = "src/payments/outgoing/plans/kept-accounts.ts";
const CLOSING = "src/payments/outgoing/closing.ts";
const CLOSING_TESTS = ["payments/private/closing.test.ts"];
const ANEW_TESTS = ["payments/private/signing-anew.slow.test.ts"];
const WINDOW = "src/solana/blockhash-window.ts";
const KEPT_TESTS = ["payments/private/kept-markers.test.ts"];

export const MARKER_BREAKS: readonly Break[] = [
  {
    property: "N3: a blockhash that is not ours is dead only after the nodes of a pool have caught up",
    file: WINDOW,
    text: "hasCaughtUp ? 0 : madeAt",
    replacement: "0",
    tests: ["solana/pools.test.ts"],
  },
  {
    property: "N3: a node behind the slot that enough have reached does not say that a blockhash is dead",
    file: WINDOW,
    text: "judgedAt >= from",
    replacement: "judgedAt >= 0",
    tests: ["solana/pools.test.ts"],
  },
  {
    property: "N3: a height from a node behind is counted higher by the slots it is behind",
    file: WINDOW,
    text: "end.blockHeight + slot - end.slot",
    replacement: "end.blockHeight",
    tests: ["solana/pools.test.ts"],
  },
  {
    property: "N17: a blockhash found dead is remembered",
    file: WINDOW,
    text: "    nodes.deadBlockhashes.add(blockhash);\n",
    replacement: "",
    tests: ["solana/pools.test.ts"],
  },
  {
    property: "N3: a simulation that does not know a living blockhash is made again",
    file: "src/solana/simulation.ts",
    text: "? failure : undefined",
    replacement: "? failure : failure",
    tests: ["solana/pools.test.ts"],
  },
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
    text: 'await ledger.funds([address], [SOL_MINT], "finalized")',
    replacement:
      '(({ slot, tokens }) => ({ slot, funds: [{ tokens }] }))(await ledger.fundsOfOwner(address, [SOL_MINT], "finalized"))',
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
  {
    property: "M23: one endpoint past the last height is no death before five minutes have passed",
    file: "src/payments/outgoing/signing-anew.ts",
    text: "const isPatient = age >= 0 && age < PATIENCE_MS;",
    replacement: "const isPatient = age < 0;",
    tests: ANEW_TESTS,
  },
  {
    property: "M23: enough witnesses past the last height let marked words be signed anew",
    file: "src/payments/outgoing/signing-anew.ts",
    text: 'return !isPatient && highest > lastValidBlockHeight ? "presumed" : "none";',
    replacement: 'return "none";',
    tests: ANEW_TESTS,
  },
  {
    property: "M23: a presumed death explains no error",
    file: "machines/payment.ts",
    text: "      isDead && !isPresumed && context.error !== null,",
    replacement: "      isDead && context.error !== null,",
    tests: ANEW_TESTS,
  },
  {
    property: "M23: an error that one endpoint tells leaves no payee out",
    file: "src/payments/outgoing/payment-effects.ts",
    text: 'const isPresumed = death === "presumed" || (error !== null && !isLanded);',
    replacement: 'const isPresumed = death === "presumed";',
    tests: ANEW_TESTS,
  },
  {
    property: "M23: what is presumed dead keeps its cost until endpoints agree",
    file: "src/payments/outgoing/payment-effects.ts",
    text: "const costs = isPresumed ? { presumed: [...dead] } : withoutDead(stored, dead);",
    replacement: "const costs = withoutDead(stored, dead);",
    tests: ANEW_TESTS,
  },
  {
    property: "M23: costs of presumed deaths that fill the cap are no case for an operator",
    file: "src/payments/outgoing/payment-effects.ts",
    text: "if ((stored.presumed ?? []).length === 0) return this.#hold(deposit, SPONSOR_CAP);",
    replacement: "return this.#hold(deposit, SPONSOR_CAP);",
    tests: ANEW_TESTS,
  },
  {
    property: "M23: a disputed marker is no agreed death",
    file: "src/payments/outgoing/read-outcome.ts",
    text: 'markers[0] === "disputed" ? -1 : blockHeight',
    replacement: "blockHeight",
    tests: ANEW_TESTS,
  },
  {
    property:
      "M23: the last height is counted from the furthest endpoint, not from the one that gave the blockhash",
    file: "src/payments/outgoing/signing-anew.ts",
    text: "Math.max(lastValidBlockHeight + 1, highest + BLOCKS_OF_SIGNED_BYTES)",
    replacement: "lastValidBlockHeight + 1",
    tests: ANEW_TESTS,
  },
  {
    property: "M23: a height far above the next one is counted for 300 blocks of it",
    file: "src/payments/outgoing/signing-anew.ts",
    text: "Math.min(told, agreed + MAX_BLOCKS_AHEAD + BLOCKS_OF_SIGNED_BYTES)",
    replacement: "Math.max(told, agreed)",
    tests: ANEW_TESTS,
  },
  {
    property: "R3: bytes of others live as long as the furthest endpoint says",
    file: WINDOW,
    text: "return { firstSlot: reachedSlot, lastValidBlockHeight: height + BLOCKHASH_LIFE_BLOCKS };",
    replacement:
      "return { firstSlot: reachedSlot, lastValidBlockHeight: reachedHeight + BLOCKHASH_LIFE_BLOCKS };",
    tests: ["solana/landing-window.test.ts"],
  },
  {
    property: "R3: endpoints far apart tell no last height",
    file: WINDOW,
    text: "if (window === null) {",
    replacement: "if (window === null && words.length === 0) {",
    tests: ["solana/landing-window.test.ts"],
  },
  {
    property: "an error of a transaction that one endpoint tells is no agreed error",
    file: "src/solana/statuses.ts",
    text: "errors.filter((other) => other === error).length >= nodes.witnesses",
    replacement: "errors.filter((other) => other === error).length >= 1",
    tests: ["solana/landing-window.test.ts"],
  },
];
