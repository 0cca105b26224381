/** Breaks of lowering the number of witnesses: when it is refused, what it is never enough for, and how it ends. */
import type { Break } from "../break.ts";

const TESTS = ["payments/operator/lowering.test.ts"];

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
    text: "    swapper,\n    configured: gate.guard(options.ledger),",
    replacement: "    swapper,\n    configured: ledger,",
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
];
