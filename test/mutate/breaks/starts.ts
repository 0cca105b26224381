/** Breaks of a start without its chain: what is held back until the chain was compared with the database. */
import type { Break } from "../break.ts";

const TESTS = ["service/chain-down.test.ts"];

export const START_BREAKS: readonly Break[] = [
  {
    property: "nothing of a payment is claimed before the chain was compared",
    file: "src/service/service-loop.ts",
    text: "engine.run({ only: [webhooks.deliveries] });",
    replacement: "engine.run();",
    tests: TESTS,
  },
  {
    property: "the chain cannot be asked before it was compared",
    file: "src/service/chain-check.ts",
    text: "if (this.#reason !== null) throw",
    replacement: 'if (this.#reason === "") throw',
    tests: TESTS,
  },
  {
    property: "a chain that answers later is compared with the database",
    file: "src/service/compare-chain.ts",
    text: "await refuseOtherChain(storage, genesisHash);",
    replacement: "await storage.fact(genesisHash);",
    tests: TESTS,
  },
  {
    property: "the first claim of an engine that runs some workflows asks for these alone",
    file: "src/engine/engine.ts",
    text: "return storage.claim({ ...request, workflows: workflows.taken });",
    replacement: "return storage.claim({ ...request, workflows: workflows.claims });",
    tests: ["engine/run-only.test.ts"],
  },
  {
    property: "a commit leases no task of a workflow that does not run yet",
    file: "src/engine/worker.ts",
    text: "this.#stopping === null ? [] : this.#around.workflows.takenAmong(due);",
    replacement: "this.#stopping === null ? [] : due;",
    tests: ["engine/run-only.test.ts"],
  },
  {
    property: "what is sealed while the chain is silent is sealed with the database's secret",
    file: "src/service/chain-binding.ts",
    text: "    await bindSecrets(storage, masterSecrets);",
    replacement: "    if (masterSecrets.length === 0) await bindSecrets(storage, masterSecrets);",
    tests: TESTS,
  },
];
