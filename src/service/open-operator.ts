/** Wires the operator's commands to the parts of a service. */
import type { PaymentContext, PaymentTables } from "../payments/payment-storage.ts";
import type { AnyWorkflow, Engine } from "../engine/index.ts";
import type { EndpointDispute, Ledger } from "../ledger/ledger.ts";
import type { HostParts } from "../payments/frame/host-parts.ts";
import type { PrivateRouting } from "../payments/private/private-routing.ts";
import { orderMatters } from "../payments/private/order-matters.ts";
import { lookAtOrder } from "../payments/private/look.ts";
import type { Swapper } from "../payments/frame/exchange/swap-provider.ts";
import {
  SettleRefused,
  settleTransaction,
  writeOffTransaction,
} from "../payments/wallet/settle-transaction.ts";
import type { WalletTransferWorkflow } from "../payments/wallet/wallet-transfer-workflow.ts";
import { createWriteAct, type WriteAct, OperatorRefused } from "../payments/frame/acts/act.ts";
import type { AttentionListener } from "../payments/operator/attention/matter-report-loop.ts";
import {
  createOperator,
  type CommonOperator,
  type OperatorInstanceReads,
  type OperatorParts,
} from "../payments/operator/operator.ts";
import { ownAddresses } from "./open-purses.ts";
import type { PurseWatch } from "../payments/frame/purses/purses.ts";
import type { OrderControl } from "../payments/private/acts/acting.ts";
import { OrderActHandler } from "../payments/private/acts/order-acts.ts";
import type { RecoveryJournal } from "../payments/private/recovery/journal.ts";
import {
  recoverCommand,
  refuseRecovery,
  type RecoverCommand,
  type RecoveryCommands,
} from "../payments/private/recovery/recover.ts";
import type { EvidenceControl } from "../payments/frame/acts/evidence.ts";

/**
 * The operator's commands. Every act names the acting person and the reason, and is one commit with its row in the
 * audit log. A command that cannot be carried out rejects with `OperatorRefused`, whose message says why, and changes
 * nothing. No command needs `start()`; a running service carries out the consequences. API keys give no access: the
 * host must guard these commands.
 */
export interface Operator extends CommonOperator, RecoveryCommands {}

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
  /** Null while private mode is off. */
  readonly routing: PrivateRouting | null;
  readonly swapper: Swapper | null;
  readonly purses: PurseWatch;
  /** The versions of the master secret that are given, the newest first. */
  readonly masterVersions: readonly number[];
  /** Null where nothing is written down. */
  readonly journal: Pick<RecoveryJournal, "read"> | null;
  /** Makes sure that the database belongs to this chain: keys of orders' addresses depend on it. */
  readonly bindToChain: () => Promise<unknown>;
  /** Disagreements between endpoints that this process sees. */
  readonly disputed: () => Promise<readonly EndpointDispute[]>;
  readonly onAttention: AttentionListener | null;
  readonly onAttentionDeadlineMs: number;
  readonly approvals: 1 | 2;
  readonly parts: HostParts;
}

export function openOperator(service: OperatedService): OpenedOperator {
  const { engine, workflows, routing } = service;
  const writeAct = createWriteAct(service);
  const opened = createOperator({
    ...service,
    evidence: evidenceControl(service),
    sources: orderMatters(service.storage, service.assets),
    orders: new OrderActHandler({
      ...service,
      writeAct,
      control: routing === null ? null : orderControl(service, routing),
    }),
    watching: () => engine.watching(),
    workflowKeys: workflows.flatMap(({ claims }) => claims),
    instances: readsOf(engine),
  });
  const recover = routing === null ? refuseRecovery : recovery(service, routing, writeAct);
  return { ...opened, operator: { ...opened.operator, recover } };
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

function orderControl(service: OperatedService, routing: PrivateRouting): OrderControl {
  const { engine, swapper, bindToChain } = service;
  return {
    async look(id) {
      await bindToChain();
      return lookAtOrder(service, id);
    },
    send: (id, event, commit) => engine.send(routing.orders, id, event, commit),
    commit: (commit) => engine.commit(commit),
    wake: (transfer) => engine.send(routing.transfers, transfer, { type: "RETRY" }),
    planTransfer: routing.plan,
    screen: routing.terms.screen,
    ownAddresses: ownAddresses({ routing, swapper }),
  };
}

function evidenceControl(service: OperatedService): EvidenceControl {
  return {
    async settle({ transactionId, signature, writes }) {
      await service.bindToChain();
      return settleTransaction(service, { transactionId, signature }, writes).catch(asRefusal);
    },
    async writeOff({ transactionId, writes }) {
      await service.bindToChain();
      await writeOffTransaction(service, transactionId, writes).catch(asRefusal);
    },
  };
}

function recovery(service: OperatedService, routing: PrivateRouting, writeAct: WriteAct): RecoverCommand {
  const recover = recoverCommand({ ...service, routing, writeAct });
  return async (orders, by) => {
    await service.bindToChain();
    return recover(orders, by);
  };
}

function asRefusal(error: unknown): never {
  throw error instanceof SettleRefused ? new OperatorRefused(error.message, { cause: error }) : error;
}
