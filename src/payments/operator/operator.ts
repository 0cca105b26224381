/** The operator's interface: reads, decisions and settings. Every act is one commit with its row of the audit log. */
import type { HostParts } from "../frame/host-parts.ts";
import type { ErasureCheck } from "../frame/acts/erasure-check.ts";
import type { ModuleErasure } from "../frame/open-module.ts";
import type { TransactionOfInstance } from "./attention/host-matters.ts";
import type { ActContext } from "../frame/intake/rules.ts";
import type { ServiceContext } from "../frame/service-context.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { Engine, InstanceReads, WatchStatus } from "../../engine/index.ts";
import type { EndpointDispute, Ledger } from "../../ledger/ledger.ts";
import type { ActRunner } from "../frame/acts/act-runner.ts";
import { readAuditLog, type AuditEntry, type AuditPage } from "../frame/acts/act.ts";
import {
  createMatterLookup,
  shownMatter,
  attentionSources,
  type AttentionSourceParts,
  sourcesOfThisProcess,
} from "./attention/list-matters.ts";
import { SightingList } from "./attention/sighting-list.ts";
import type { AttentionSource, Matter } from "../frame/acts/matter.ts";
import { MatterReportLoop, type AttentionListener } from "./attention/matter-report-loop.ts";
import { ErasureHandler, type ErasureCommands } from "./erasing.ts";
import { GateRuleStorage } from "./gates/gate-rule-storage.ts";
import { gateRow, type GateAct } from "./gates/gate-act.ts";
import { listLimits, SET_LIMITS, type LimitCommands } from "./gates/limiting.ts";
import { LOWER_WITNESSES, RESTORE_WITNESSES, type WitnessCommands } from "./gates/lowering.ts";
import {
  listPauses,
  listSuspensions,
  PAUSE,
  type PauseCommands,
  RESTORE,
  RESUME,
  SUSPEND,
  type SuspensionCommands,
} from "./gates/pausing.ts";
import { RESTORE_ENDPOINT, SUSPEND_ENDPOINT, type EndpointCommands } from "./gates/suspending-endpoints.ts";
import type { OrderActs } from "../frame/acts/command.ts";
import type { EvidenceActs } from "../frame/acts/evidence.ts";
import type { PurseCommands, PurseWatch } from "../frame/purses/purses.ts";
import { MatterCommandHandler, type MatterCommands } from "./resolve/resolve.ts";
import { settleRow, type TransactionCommands } from "./transaction-acts.ts";

/** The operator's commands that every service has. */
export interface CommonOperator
  extends
    PauseCommands,
    SuspensionCommands,
    LimitCommands,
    WitnessCommands,
    EndpointCommands,
    MatterCommands,
    TransactionCommands,
    ErasureCommands,
    PurseCommands {
  /** Matters that need a person, oldest first; up to 1,000 of each kind. */
  attention(): Promise<readonly Matter[]>;
  /**
   * Reads the charts behind transactions, transfers and deliveries: their states, their pending tasks
   * and their failures. A read changes nothing and writes no audit row. `resolve` retries or drops a task that fails or
   * was set aside. These charts cannot be stopped or removed by hand: the money would be stuck.
   */
  readonly instances: OperatorInstanceReads;
  /** A page of the audit log, oldest first. Rejects with `OperatorRefused` when no entry has the id `after`. */
  auditLog(page?: AuditPage): Promise<readonly AuditEntry[]>;
}

/** Reads of the service's instances. */
export interface OperatorInstanceReads
  extends InstanceReads, Pick<Engine<never>, "deadLetters" | "failingTasks"> {}

/** The commands that every service has, and their work while the service runs. */
export interface OperatorParts {
  readonly operator: CommonOperator;
  readonly report: MatterReportLoop;
  /** The number of waiting matters, for the service's health; up to 200 of each kind. */
  readonly countMatters: () => Promise<number>;
}

interface OperatorCommandParts extends ServiceContext<PaymentStorage> {
  /** The ledger with its own number of witnesses, not the one an operator has lowered it to. */
  readonly configured: Pick<Ledger, "witnesses" | "endpoints" | "rateLimited" | "restricted">;
  /** The workflows of this process, as `name@version`. */
  readonly workflowKeys: readonly string[];
  readonly instances: OperatorInstanceReads;
  /** Null where no way to pay has orders. */
  readonly orders: OrderActs | null;
  /** Sources of matters that ways to pay bring. */
  readonly sources: readonly AttentionSource[];
  readonly transactionOf: TransactionOfInstance;
  readonly erasureChecks: (transactionId: string) => Promise<readonly ErasureCheck[]>;
  readonly erasures: readonly ModuleErasure[];
  readonly evidence: EvidenceActs;
  readonly acts: ActRunner;
  readonly purses: Pick<PurseWatch, "low" | "read">;
  /** Watches of this process on the chain. */
  readonly watching: () => Readonly<Record<string, WatchStatus>>;
  /** Disagreements between endpoints that this process sees. */
  readonly disputed: () => Promise<readonly EndpointDispute[]>;
  readonly onAttention: AttentionListener | null;
  readonly onAttentionDeadlineMs: number;
  /** The host's parts that do not answer this process, and those that have answered. */
  readonly parts: Pick<HostParts, "silent" | "hasAnsweredSince">;
}

const MAX_LISTED = 1_000;
const MAX_COUNTED = 200;

export function createOperator(deps: OperatorCommandParts): OperatorParts {
  const { storage, clock, assets, acts: runner } = deps;
  const sightings = new SightingList({ storage, clock });
  const rateLimited: AttentionSourceParts["rateLimited"] = () => deps.configured.rateLimited();
  const surroundings = { ...deps, rateLimited, sightings };
  const stored = attentionSources(surroundings);
  const sources = [...stored, ...sourcesOfThisProcess(surroundings)];
  const lookForMatters = createMatterLookup({ sources, storage, clock });
  const gates = { gates: new GateRuleStorage({ storage }), clock, assets };
  const belief = { ...gates, storage, ledger: deps.configured };
  const resolver = new MatterCommandHandler({ ...deps, lookForMatters, runner });
  const erasing = new ErasureHandler({ ...deps, runner });
  const settle = settleRow(deps.evidence);
  const change =
    <Parts extends typeof gates, Given, Told>(act: GateAct<Parts, Given, Told>, parts: Parts) =>
    (given: Given, by: ActContext): Promise<Told> =>
      runner.run(gateRow(act, parts), given, by);
  const restoreWitnesses = change(RESTORE_WITNESSES, belief);
  return {
    operator: {
      pause: change(PAUSE, gates),
      resume: change(RESUME, gates),
      paused: () => listPauses(gates),
      suspendAccount: change(SUSPEND, gates),
      restoreAccount: change(RESTORE, gates),
      suspendedAccounts: () => listSuspensions(gates),
      setLimits: change(SET_LIMITS, gates),
      limits: () => listLimits(gates),
      lowerWitnesses: change(LOWER_WITNESSES, belief),
      restoreWitnesses: (by) => restoreWitnesses(undefined, by),
      suspendEndpoint: change(SUSPEND_ENDPOINT, belief),
      restoreEndpoint: change(RESTORE_ENDPOINT, belief),
      resolve: (id, command, by) => resolver.resolve(id, command, by),
      approve: (id, approval, by) => resolver.approve(id, approval, by),
      settleTransaction: (landing, by) => runner.run(settle, landing, by),
      instances: deps.instances,
      attention: async () => (await lookForMatters(MAX_LISTED)).matters.map(shownMatter),
      purses: () => deps.purses.read(),
      erase: (erasure, by) => erasing.erase(erasure, by),
      auditLog: (page) => readAuditLog(storage, page),
    },
    report: new MatterReportLoop({
      ...deps,
      sightings,
      lookForMatters: createMatterLookup({ sources: stored, storage, clock }),
    }),
    countMatters: async () => (await lookForMatters(MAX_COUNTED)).matters.length,
  };
}
