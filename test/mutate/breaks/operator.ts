/** Breaks of what operators decide, and of what they are told. */
import type { Break } from "../break.ts";

const WHO_ACTS = "src/payments/operator/who-acts.ts";
const HOST_PARTS = "src/payments/host-parts.ts";
const SILENT = ["payments/silent-parts.test.ts"];
const RESOLVING = ["payments/operator/resolve.test.ts"];

export const OPERATOR_BREAKS: readonly Break[] = [
  {
    property: "a name or a reason with a character that nobody sees is refused",
    file: WHO_ACTS,
    text: "if (unseen === undefined) return;",
    replacement: "if (unseen !== null) return;",
    tests: RESOLVING,
  },
  {
    property: "characters that fonts draw nothing for tell no actors apart",
    file: WHO_ACTS,
    text: '.replaceAll(ALL_UNSEEN, "")',
    replacement: "",
    tests: RESOLVING,
  },
  {
    property: "another form of a name is the same actor's",
    file: WHO_ACTS,
    text: '.normalize("NFKC")',
    replacement: "",
    tests: RESOLVING,
  },
  {
    property: "another spacing of a name is the same actor's",
    file: WHO_ACTS,
    text: '.replaceAll(/\\s+/g, " ")',
    replacement: "",
    tests: RESOLVING,
  },
  {
    property: "a part that misses its deadline is silent until it answers",
    file: HOST_PARTS,
    text: "standing.silentSince ??= begunAt;",
    replacement: "",
    tests: SILENT,
  },
  {
    property: "an answer ends the silence of a part",
    file: HOST_PARTS,
    text: "standing.silentSince = null;",
    replacement: "",
    tests: SILENT,
  },
  {
    property: "a part has no more calls open than leave places to other orders",
    file: HOST_PARTS,
    text: "open < MOST_OPEN",
    replacement: "open < 64 * MOST_OPEN",
    tests: SILENT,
  },
  {
    property: "a silent part is asked by one call at a time, with pauses",
    file: HOST_PARTS,
    text: "open === 0 && this.#clock.now()",
    replacement: "open >= 0 && this.#clock.now()",
    tests: SILENT,
  },
  {
    property: "a host's function that does not answer is given up",
    file: "src/payments/call-host.ts",
    text: "Promise.race([call(late.signal), deadline])",
    replacement: "Promise.race([call(late.signal)])",
    tests: SILENT,
  },
  {
    property: "a process without an answer does not end what another process has told",
    file: "src/payments/operator/attention/silent-parts.ts",
    text: "[...own, ...others]",
    replacement: "[...own]",
    tests: SILENT,
  },
  {
    property: "tokens go elsewhere by two people's word where it takes two",
    file: "src/payments/private/order-return.ts",
    text: "isElsewhere && approvals === 2 && confirmed === null",
    replacement: "isElsewhere && approvals !== 2 && confirmed === null",
    tests: ["payments/private/other-mints.test.ts"],
  },
  {
    property: "tokens that came after the first person's word go nowhere by the second one's",
    file: "src/payments/operator/transaction-acts.ts",
    text: "confirmed: BigInt(units),",
    replacement: "confirmed: BigInt(units) * 2n,",
    tests: ["payments/private/other-mints.test.ts"],
  },
  {
    property: "tokens that came after the word by which others go elsewhere stay",
    file: "src/payments/private/return-tokens.ts",
    text: "atMost === undefined ? {} : { atMost: BigInt(atMost) }",
    replacement: "atMost === undefined ? {} : {}",
    tests: ["payments/private/other-mints.test.ts"],
  },
  {
    property: "of two people who confirm tokens to go elsewhere one does",
    file: "src/payments/operator/transaction-acts.ts",
    text: `          guard,
          writeAct({ by: acted, act: "return_tokens", what: { ...what, requestedBy } }),`,
    replacement: `          writeAct({ by: acted, act: "return_tokens", what: { ...what, requestedBy } }),`,
    tests: ["payments/private/other-mints.test.ts"],
  },
  {
    property: "attempts that are signed at once do not pass together what their order may cost",
    file: "src/payments/purses/sponsor-allowance.ts",
    text: "{ atMost: { total: left + taken } }",
    replacement: "{}",
    tests: ["payments/private/sponsor-cap.test.ts"],
  },
  {
    property: "an order that has cost what it may waits for an operator",
    file: "src/payments/outgoing/payment-effects.ts",
    text: 'row.kind !== "sweep" && added > allowance.left',
    replacement: 'row.kind === "sweep" && added > allowance.left',
    tests: ["payments/private/sponsor-cap.test.ts"],
  },
  {
    property: "an attempt that can land no more takes nothing of what its order may cost",
    file: "src/payments/outgoing/payment-effects.ts",
    text: "writePlan({ ...stored, ...costs }) } }, ...returned];",
    replacement: "writePlan({ ...stored, ...costs }) } }];",
    tests: ["payments/private/sponsor-cap.test.ts"],
  },
  {
    property: "an open order is released only where each unknown transaction is recognised",
    file: "src/payments/private/release-deposit.ts",
    text: "if (doubtful.length === 0) return;",
    replacement: "if (doubtful.length < unknown.length) return;",
    tests: ["payments/private/restored-without-history.test.ts"],
  },
  {
    property: "the archive may take as long as its deadline says",
    file: "src/payments/retention/removal.ts",
    text: "{ clock, deadlineMs },",
    replacement: "{ clock, deadlineMs: deadlineMs * 100 },",
    tests: ["payments/retention/service-retention.test.ts"],
  },
  {
    property: "the host may take as long to hear of a matter as its deadline says",
    file: "src/payments/operator/attention/tell-matters.ts",
    text: 'name: "onAttention", deadlineMs, call',
    replacement: 'name: "onAttention", deadlineMs: Math.min(deadlineMs, 10_000), call',
    tests: ["payments/operator/attention.test.ts"],
  },
  {
    property: "nobody else tells a matter while the host may still answer",
    file: "src/payments/operator/attention/tell-matters.ts",
    text: "now + this.#parts.onAttentionDeadlineMs + TELLING_MS",
    replacement: "now + TELLING_MS",
    tests: ["payments/operator/attention.test.ts"],
  },
];
