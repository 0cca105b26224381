/** The health of the service, for an operator's screen; a load balancer sees only the status. */
import type { PaymentStorage } from "../payments/payment-storage.ts";
import type { PaymentRetentionStatus } from "../payments/frame/retention/payment-retention.ts";
import { contradictionOf } from "../payments/frame/intake/chain-clock.ts";
import { loweredWitnesses, type LoweredWitnessRule } from "../payments/frame/intake/rules.ts";
import { isoTime } from "../payments/frame/iso-time.ts";
import type { WatchStatus, TroubleCount } from "../engine/index.ts";
import { watchesOf } from "../workflow/watch-rows.ts";
import type { SilentPart } from "../payments/frame/host-parts.ts";
import type { Ledger, WitnessCount } from "../ledger/ledger.ts";
import { offBy } from "../core/clock-trust.ts";
import type { PurseReading } from "../payments/frame/purses/purses.ts";
import type { Clock } from "../core/runtime.ts";
import type { ChainStatus } from "./chain-check.ts";
import type { StorageUnusableCode } from "../../storage/storage-unusable.ts";
import type { CommitHealth } from "./commit-health.ts";
import { OVERDUE_MS } from "../payments/frame/overdue.ts";
import type { OpenModule } from "../payments/frame/open-module.ts";
import type { ModuleHealth } from "../payments/modules.ts";
import { SharedCall } from "./shared-call.ts";

/** The answer to "how are you". */
export interface Health extends ModuleHealth {
  /**
   * `ok`: everything answers and nothing waits. `degraded`: payments are taken or followed late: the chain is silent,
   * or too few endpoints answer or are asked for; endpoints differ; the clock was put; a part of the host does not answer;
   * work is overdue, tasks were set aside, transactions are unprovable; or watches have waited long for a look that found
   * something out. `down`: the storage is silent or takes no commits, or the chain that answers is not that of this database,
   * so nothing can be taken at all.
   */
  readonly status: "ok" | "degraded" | "down";
  /**
   * The outcome of this process's last commit, or of a probe after a failed commit: the class of the failure, or `ok`.
   */
  readonly storage: "ok" | StorageUnusableCode;
  /** Whether this process may act on the chain: a start goes on while the chain is silent, and holds back what needs it. */
  readonly chain: ChainStatus;
  /** Whether this process's clock is trusted. */
  readonly clock: {
    /**
     * `contradicted`: the time of the chain is more than a minute away from the storage's clock, and nothing new is taken.
     * `doubted`: the clock of this process was contradicted, or jumped by a minute or more, within the last hour: nothing that is old
     * is removed.
     */
    readonly state: "trusted" | "doubted" | "contradicted";
    /** The error of the clock, and the work held back; null when nothing is held back. */
    readonly message: string | null;
  };
  /** The newest finalized slot, null while no endpoint answers within 2 s. */
  readonly ledger: { readonly slot: number; readonly endpoint: string } | null;
  /**
   * How many endpoints must agree before anything final is believed, and how many answer. While these are fewer nothing
   * completes or fails, no deposit is credited and no deadline passes. Null where they cannot be counted.
   */
  readonly witnesses:
    | (WitnessCount & {
        /** Until when an operator has lowered `needed`, ISO 8601 in UTC; absent while it is as configured. */
        readonly loweredUntil?: string;
      })
    | null;
  /**
   * Whether the chain takes transactions of version 1, as enough endpoints tell: else quotes that ask for them are refused.
   * Null while that is unknown.
   */
  readonly takesVersion1: boolean | null;
  /** Wallet transactions of which no evidence tells whether they landed; they wait for a node that knows, or an operator. */
  readonly unprovable: number;
  /** The wait of the earliest due task, in milliseconds; 0 without a late task. */
  readonly overdueMs: number;
  /** Tasks set aside because each of their holders vanished, or they failed for good; they wait for an operator. Counted up to 100. */
  readonly deadLetters: number;
  /** Tasks that have failed at least once and are tried again and again. Counted up to 100. */
  readonly failingTasks: number;
  /**
   * Active instances of charts, or versions of them, that this process does not have: it leaves them alone. During an
   * upgrade another process has them; else they stand still. Counted up to 100.
   */
  readonly unknownInstances: number;
  /**
   * Watches of this process on the chain, by kind: their number, and the milliseconds since the last successful look at
   * the watch that has waited longest. Empty before `start()` and after `stop()`.
   */
  readonly watches: Readonly<Record<string, WatchStatus>>;
  /**
   * The funds of the purses at this process's last reading: at most five minutes ago while the chain answers. Absent before
   * that, and where neither private mode nor swaps are on.
   */
  readonly purses?: PurseReading;
  /** Facts that endpoints tell this process differently: what depends on them waits. */
  readonly disputes: number;
  /** Signers, price sources and screening that do not answer this process; absent while all do. */
  readonly silentParts?: readonly string[];
  /** Matters that wait for a person, dead letters among them; see `service.operator.attention()`. Up to 200 of each kind. */
  readonly attention: number;
  /**
   * How much is stored, what of it is never removed, and how the removals of this process go. Null while the storage is
   * silent.
   */
  readonly retention: PaymentRetentionStatus | null;
}

// A health check does not wait for an ill part: probes give up after seconds.
const MAX_STORAGE_WAIT_MS = 3_000;
const MAX_LEDGER_WAIT_MS = 2_000;

const NO_TROUBLES: TroubleCount = { deadLetters: 0, failingTasks: 0, unknownInstances: 0 };

interface HealthParts {
  readonly storage: PaymentStorage;
  readonly commits: CommitHealth;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly workflowKeys: readonly string[];
  readonly chain: () => ChainStatus;
  readonly watching: () => Health["watches"];
  readonly troubles: () => Promise<TroubleCount>;
  /** The number of disagreements between endpoints that this process sees; asks no node. */
  readonly countDisputes: () => Promise<number>;
  readonly silentParts: () => readonly SilentPart[];
  readonly countMatters: () => Promise<number>;
  readonly purses: () => PurseReading | null;
  readonly retention: () => Promise<PaymentRetentionStatus>;
  /** The parts of modules. */
  readonly added: readonly NonNullable<OpenModule["health"]>[];
}

/**
 * Asks storage and ledger for health, one question of a kind at a time: while storage or ledger hangs, repeated health
 * requests add no load.
 */
export class HealthReader {
  readonly #parts: HealthParts;
  readonly #stored: SharedCall<StoredHealth>;
  readonly #taking: SharedCall<Health["storage"]>;
  readonly #position: SharedCall<NonNullable<Health["ledger"]>>;
  readonly #witnesses: SharedCall<WitnessCount>;
  readonly #version1: SharedCall<boolean>;

  constructor(parts: HealthParts) {
    const { ledger, storage, commits } = parts;
    this.#parts = parts;
    this.#taking = new SharedCall(() => commits.look(storage));
    this.#stored = new SharedCall(() => readStored(parts));
    this.#position = new SharedCall(() => ledger.position());
    this.#witnesses = new SharedCall(() => ledger.witnesses());
    this.#version1 = new SharedCall(() => ledger.takesVersion1());
  }

  /**
   * Never rejects, and answers within 3 s: a storage that is silent for longer is unreachable, and a ledger that is silent
   * for 2 s is not there.
   */
  async read(): Promise<Health> {
    const { clock, watching, commits } = this.#parts;
    const silent = this.#parts.silentParts().map(({ part }) => part);
    const parts = silent.length === 0 ? {} : { silentParts: silent };
    const [stored, , position, answering, takesVersion1] = await Promise.all([
      this.#stored.answerWithin(clock, MAX_STORAGE_WAIT_MS),
      this.#taking.answerWithin(clock, MAX_STORAGE_WAIT_MS),
      this.#position.answerWithin(clock, MAX_LEDGER_WAIT_MS),
      this.#witnesses.answerWithin(clock, MAX_LEDGER_WAIT_MS),
      this.#version1.answerWithin(clock, MAX_LEDGER_WAIT_MS),
    ]);
    const lowered = stored?.lowered ?? null;
    const witnesses = answering === null ? null : { ...answering, ...loweringOf(lowered) };
    const time = clockStatus(offBy(clock), stored?.contradiction ?? null);
    const chain = { chain: this.#parts.chain(), clock: time, ledger: position, witnesses, takesVersion1 };
    const isHeld = chain.chain.state === "silent";
    const disputes = await this.#parts.countDisputes();
    // Read with the matters, if at all.
    const purses = this.#parts.purses();
    const told = purses === null ? parts : { ...parts, purses };
    if (stored === null) {
      const nothing = { unprovable: 0, overdueMs: 0, ...NO_TROUBLES, disputes, attention: 0 };
      const unknown = { ...nothing, ...told, watches: watching(), retention: null };
      const silence = Object.assign({}, ...this.#parts.added.map((each) => each.silent)) as ModuleHealth;
      const storage = commits.standing === "ok" ? "unavailable" : commits.standing;
      return { status: "down", storage, ...chain, ...unknown, ...silence };
    }
    const { unprovable, troubles, attention, added, retention, due } = stored;
    const overdueMs = due === null ? 0 : Math.max(0, clock.now() - due);
    const watches = watching();
    const isBlind = position === null || witnesses === null || witnesses.answering < witnesses.needed;
    const isLate =
      isHeld ||
      isBlind ||
      time.state !== "trusted" ||
      lowered !== null ||
      disputes > 0 ||
      silent.length > 0 ||
      overdueMs > OVERDUE_MS ||
      troubles.deadLetters > 0 ||
      unprovable > 0 ||
      Object.values(watches).some(({ lateMs }) => lateMs > OVERDUE_MS);
    const storage = commits.standing;
    const isDown = chain.chain.state === "refused" || storage !== "ok";
    const status = isDown ? "down" : isLate ? "degraded" : "ok";
    const counted = { unprovable, overdueMs, ...troubles, disputes, ...told, attention };
    return { status, storage, ...chain, ...counted, ...added, watches, retention };
  }
}

interface StoredHealth {
  readonly due: number | null;
  readonly troubles: TroubleCount;
  readonly unprovable: number;
  readonly attention: number;
  readonly lowered: LoweredWitnessRule | null;
  readonly contradiction: number | null;
  readonly added: ModuleHealth;
  readonly retention: PaymentRetentionStatus;
}

async function readStored({
  storage,
  ledger,
  clock,
  workflowKeys,
  troubles: readTroubles,
  countMatters,
  retention,
  added: additions,
}: HealthParts): Promise<StoredHealth> {
  const reads = [
    storage.nextDue(workflowKeys),
    readTroubles(),
    watchesOf(storage, "unprovable"),
    countMatters(),
    loweredWitnesses({ storage, clock }),
    retention(),
    contradictionOf({ storage, ledger, clock }),
    Promise.all(additions.map((each) => each.read())),
  ] as const;
  // A hanging read is not asked again because a different read has failed.
  await Promise.allSettled(reads);
  const [due, troubles, unprovable, attention, lowered, kept, contradiction, added] =
    await Promise.all(reads);
  return {
    due,
    troubles,
    unprovable: unprovable.length,
    attention,
    lowered,
    retention: kept,
    contradiction,
    added: Object.assign({}, ...added) as ModuleHealth,
  };
}

function clockStatus(offMs: number | null, contradiction: number | null): Health["clock"] {
  if (contradiction !== null) {
    const by = `the storage's clock is ${-contradiction} ms ahead of the chain`;
    return { state: "contradicted", message: `${by}: no quotes, orders and co-signatures until they agree` };
  }
  if (offMs === null) return { state: "trusted", message: null };
  return {
    state: "doubted",
    message: `it was off by ${offMs} ms: nothing that is old is removed for an hour`,
  };
}

function loweringOf(
  lowered: LoweredWitnessRule | null,
): Pick<NonNullable<Health["witnesses"]>, "loweredUntil"> {
  return lowered === null ? {} : { loweredUntil: isoTime(lowered.until) };
}
