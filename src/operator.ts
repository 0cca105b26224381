/** `paystate/operator`: the types of `service.operator`, of health and of reconciling, and what the operator refuses. */
export type { PurseBody, PurseReading } from "./payments/frame/purses/purses.ts";
export type {
  IssuedKey,
  IssueKey,
  KeyEnvironment,
  RotateKeyOptions,
  ListedKey,
  NewAccount,
  RotatedKey,
} from "./payments/frame/accounts/api-keys.ts";
export type { DurableScope, LimitStatus } from "./payments/frame/accounts/count-hit.ts";
export type { Diagnosis, DiagnosisQuery } from "./service/diagnosis.ts";
export type { DiagnosedFacts, ServiceSettings } from "./service/diagnosis/facts.ts";
export type { DiagnosisFinding, FindingVerdict } from "./service/diagnosis/finding.ts";
export type { MasterSecretStatus } from "./payments/frame/secrets/bind-database.ts";
export type { ChainStatus } from "./service/chain-check.ts";
export type { Health } from "./service/read-health.ts";
export type { DeliveryBacklog } from "./payments/webhooks/delivery-backlog.ts";
export type { NamedLanding, SettledTransaction } from "./payments/frame/acts/evidence.ts";
export { OperatorRefused } from "./payments/frame/acts/act.ts";
export type { ActName, AuditEntry, AuditPage } from "./payments/frame/acts/act.ts";
export type { Erasure, ErasureResult } from "./payments/operator/erasing.ts";
export type { OperatorInstanceReads } from "./payments/operator/operator.ts";
export type { Operator } from "./service/open-operator.ts";
export type { ActContext, Direction } from "./payments/frame/intake/rules.ts";
export type {
  EndLine,
  JournalLine,
  OrderLine,
  RecoveryJournal,
} from "./payments/private/recovery/journal.ts";
export type { RecoverCommand, RecoveredOrder } from "./payments/private/recovery/recover.ts";
export type { Matter, MatterAction, MatterKind } from "./payments/frame/acts/matter.ts";
export type { ArchivedRow } from "./payments/frame/retention/removal.ts";
export type { CheckedKeepOptions } from "./payments/frame/retention/keep.ts";
export type { PaymentRetentionStatus } from "./payments/frame/retention/payment-retention.ts";
export type { AttentionChange, AttentionListener } from "./payments/operator/attention/matter-report-loop.ts";
export type { Approval, ResolveResult, ResolveCommand } from "./payments/frame/acts/command.ts";
export type { LimitEntry, SetLimitsRequest } from "./payments/operator/gates/limiting.ts";
export type { PausedEntry, PausedScope, SuspendedAccount } from "./payments/operator/gates/pausing.ts";
export type { AddressTally } from "./payments/private/reconcile/tally.ts";
export type { AssetTally, AddressReconciliation } from "./payments/private/reconcile/orders.ts";
export type { PurseReconciliation, MendedTotal } from "./payments/operator/reconcile/purses.ts";
export type { Reconciliation } from "./service/reconcile-service.ts";
export type { WalletReconciliation, WalletFinding } from "./payments/operator/reconcile/wallet.ts";
export type { AddressReport, Finding } from "./payments/private/reconcile/findings.ts";
export type {
  NodeCalledEvent,
  RequestAnsweredEvent,
  TaskEndedEvent,
  WebhookCalledEvent,
} from "./core/diagnostics.ts";
