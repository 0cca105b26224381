/** Wires the operator's commands to the parts of a service. */
import type { PaymentContext, PaymentTables } from "../payments/payment-storage.ts";
import type { AnyWorkflow, Engine } from "../engine/index.ts";
import type { EndpointDispute, Ledger } from "../ledger/ledger.ts";
import type { HostParts } from "../payments/frame/host-parts.ts";
import { evidenceActs } from "../payments/wallet/settle-transaction.ts";
import { unprovableTransactions } from "../payments/wallet/unprovable-matters.ts";
import type { WalletTransferWorkflow } from "../payments/wallet/wallet-transfer-workflow.ts";
import type { ActRunner } from "../payments/frame/acts/act-runner.ts";
import type { AttentionListener } from "../payments/operator/attention/matter-report-loop.ts";
import {
  createOperator,
  type CommonOperator,
  type OperatorInstanceReads,
  type OperatorParts,
} from "../payments/operator/operator.ts";
import type { PurseWatch } from "../payments/frame/purses/purses.ts";
import type { OpenModule } from "../payments/frame/open-module.ts";
import type { ModuleCommands } from "../payments/modules.ts";

/**
 * The operator's commands. Every act names the acting person and the reason, and is one commit with its row in the
 * audit log. A command that cannot be carried out rejects with `OperatorRefused`, whose message says why, and changes
 * nothing. No command needs `start()`; a running service carries out the consequences. API keys give no access: the
 * host must guard these commands.
 */
export interface Operator extends CommonOperator, ModuleCommands {}

/** The operator's commands, and their work while the service runs. */
export interface OpenedOperator extends OperatorParts {
  readonly operator: Operator;
}

interface OperatedService extends PaymentContext {
  /** The ledger with its own number of witnesses, not the one an operator has lowered it to. */
  readonly configured: Pick<Ledger, "witnesses" | "endpoints" | "rateLimited" | "restricted">;
  readonly engine: Engine<PaymentTables>;
  readonly workflows: readonly AnyWorkflow[];
  readonly transfers: WalletTransferWorkflow;
  readonly modules: readonly OpenModule[];
  readonly purses: PurseWatch;
  /** Makes sure that the database belongs to this chain: keys of orders' addresses depend on it. */
  readonly bindToChain: () => Promise<unknown>;
  /** Disagreements between endpoints that this process sees. */
  readonly disputed: () => Promise<readonly EndpointDispute[]>;
  readonly onAttention: AttentionListener | null;
  readonly onAttentionDeadlineMs: number;
  readonly acts: ActRunner;
  readonly parts: HostParts;
}

export function openOperator(service: OperatedService): OpenedOperator {
  const { engine, workflows, modules } = service;
  const opened = createOperator({
    ...service,
    evidence: evidenceActs(service),
    sources: [unprovableTransactions(service.storage), ...modules.flatMap(({ matters }) => matters ?? [])],
    orders: modules.find(({ orderActs }) => orderActs !== undefined)?.orderActs ?? null,
    transactionOf: (instance) => firstOf(modules, async (module) => module.transactionOf?.(instance) ?? null),
    erasureChecks: async (id) => {
      const checks = await Promise.all(modules.map(async ({ erasureCheck }) => erasureCheck?.(id) ?? null));
      return checks.filter((check) => check !== null);
    },
    erasures: modules.flatMap(({ erasure }) => erasure ?? []),
    watching: () => engine.watching(),
    workflowKeys: workflows.flatMap(({ claims }) => claims),
    instances: readsOf(engine),
  });
  // The types beside the list of modules describe the members that modules add at run time.
  const added = Object.assign({}, ...modules.map(({ commands }) => commands ?? {})) as ModuleCommands;
  return { ...opened, operator: { ...opened.operator, ...added } };
}

/** The answer of the first module that has one; null where none does. */
async function firstOf<Answer>(
  modules: readonly OpenModule[],
  ask: (module: OpenModule) => Promise<Answer | null>,
): Promise<Answer | null> {
  for (const module of modules) {
    const answer = await ask(module);
    if (answer !== null) return answer;
  }
  return null;
}

/** The reading half of an engine: no method that changes instances. */
function readsOf(engine: Engine<PaymentTables>): OperatorInstanceReads {
  return {
    read: (...asked) => engine.read(...asked),
    list: (...asked) => engine.list(...asked),
    pending: (...asked) => engine.pending(...asked),
    history: (...asked) => engine.history(...asked),
    troubles: () => engine.troubles(),
    deadLetters: (...asked) => engine.deadLetters(...asked),
    failingTasks: (...asked) => engine.failingTasks(...asked),
  };
}
