/** Wires the operator's commands to the parts of a service. */
import type { PaymentTables } from "../payments/tables.ts";
import type { AnyWorkflow, Engine } from "../engine/index.ts";
import type { EndpointDispute, Ledger } from "../ledger/ledger.ts";
import type { HostParts } from "../payments/host-parts.ts";
import type { ServiceContext } from "../payments/service-context.ts";
import type { PrivateRouting } from "../payments/private/private-routing.ts";
import { hasSignedForRecipients } from "../payments/outgoing/declined.ts";
import { orderReturn } from "../payments/private/order-return.ts";
import { releaseDeposit, shownAmounts } from "../payments/private/release-deposit.ts";
import { settlePayment } from "../payments/private/settle-payment.ts";
import { moneyThere } from "../payments/private/vouched-funds.ts";
import type { Swapper } from "../payments/swap-provider/swap-provider.ts";
import {
  SettleRefused,
  settleTransaction,
  writeOffTransaction,
} from "../payments/wallet/settle-transaction.ts";
import type { WalletTransferWorkflow } from "../payments/wallet/wallet-transfer-workflow.ts";
import { type WriteAct, OperatorRefused } from "../payments/operator/act.ts";
import type { AttentionListener } from "../payments/operator/attention/matter-report-loop.ts";
import {
  createOperator,
  type OperatorInstanceReads,
  type OperatorParts,
} from "../payments/operator/operator.ts";
import { ownAddresses } from "./open-purses.ts";
import type { PurseWatch } from "../payments/purses/purses.ts";
import { RecoveryService, type RecoverCommand } from "../payments/operator/recovery/recover.ts";
import type { EvidenceControl } from "../payments/operator/resolve/command.ts";
import type { DepositControl } from "../payments/operator/resolve/resolve-deposits.ts";

interface OperatedService extends ServiceContext {
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
  /** Makes sure that the database belongs to this chain: keys of deposit addresses depend on it. */
  readonly bindToChain: () => Promise<unknown>;
  /** Disagreements between endpoints that this process sees. */
  readonly disputed: () => Promise<readonly EndpointDispute[]>;
  readonly onAttention: AttentionListener | null;
  readonly onAttentionDeadlineMs: number;
  readonly approvals: 1 | 2;
  readonly parts: HostParts;
}

export function openOperator(service: OperatedService): OperatorParts {
  const { engine, workflows, routing } = service;
  return createOperator({
    ...service,
    evidence: evidenceControl(service),
    control: routing === null ? null : depositControl(service, routing),
    recovery: routing === null ? null : (writeAct) => recovery(service, routing, writeAct),
    watching: () => engine.watching(),
    permittedDeposits: () => routing?.permittedDeposits() ?? null,
    workflowKeys: workflows.flatMap(({ claims }) => claims),
    instances: readsOf(engine),
  });
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

/** States in which a deposit address accepts a new receiver of its money. */
const REDIRECTABLE: ReadonlySet<string> = new Set(["waiting", "held", "heldBack", "atRest"]);

function depositControl(
  { storage, ledger, configured, engine, assets, clock, swapper, approvals, bindToChain }: OperatedService,
  routing: PrivateRouting,
): DepositControl {
  const { keys, addresses, terms } = routing;
  const redirecting = { screen: terms.screen, ownAddresses: ownAddresses({ routing, swapper }) };
  return {
    ...redirecting,
    async canRedirect({ id, transactionId }) {
      const state = outermost((await engine.read(id))?.value);
      if (state !== "spending") return REDIRECTABLE.has(state);
      // Nothing is signed for an address that is held.
      const view = await storage.transaction(transactionId);
      return view !== null && !hasSignedForRecipients(view.payments);
    },
    async moneyThere(deposit) {
      const money = await moneyThere({ storage, ledger, configured, assets }, deposit);
      return money === null ? null : { money, shown: shownAmounts(money.there, assets) };
    },
    async release(transactionId, order) {
      await bindToChain();
      return releaseDeposit(
        { storage, ledger, configured, assets, clock, engine, keys, addresses },
        transactionId,
        order,
      );
    },
    async settle(settling) {
      await bindToChain();
      return settlePayment({ storage, ledger, assets, keys, clock }, settling);
    },
    async returnTokens(command) {
      await bindToChain();
      const sponsor = terms.sponsor.address;
      const shared = { storage, ledger, engine, assets, keys, addresses, sponsor };
      return orderReturn({ ...shared, ...redirecting, approvals }, command);
    },
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
  const recovering = new RecoveryService({ ...service, routing, writeAct });
  return async (ids, by) => {
    await service.bindToChain();
    return recovering.recover(ids, by);
  };
}

function asRefusal(error: unknown): never {
  throw error instanceof SettleRefused ? new OperatorRefused(error.message, { cause: error }) : error;
}

/** The outermost state of a value, "" where there is none. */
function outermost(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null ? (Object.keys(value)[0] ?? "") : "";
}
