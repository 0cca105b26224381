/** The rules that operators have set, as stored: pauses, a suspension, limits, and whom the ledger believes for a time. */
import type { GateRecord } from "../tables/limits.ts";
import type { FrameStorage } from "../frame-storage.ts";
import { storageTime } from "../service-context.ts";
import type { Clock } from "../../../core/runtime.ts";

/** The new transactions and quotes that a pause refuses: all given fields must match. */
export interface PauseScope {
  readonly mode?: "wallet" | "private";
  /** A mint: transactions that give or get the mint are refused. */
  readonly mint?: string;
  readonly type?: "send" | "swap" | "payroll";
}

/** A pause. `since` is in milliseconds. */
export interface Pause extends PauseScope, ActContext {
  readonly since: number;
}

/** The direction of a limit: `in` counts amounts that an account gives, `out` counts amounts that recipients get. */
export type Direction = "in" | "out";

/** A limit on amounts of one asset, in base units as decimal strings; null where there is none. */
export interface Limit extends ActContext {
  readonly mint: string;
  readonly direction: Direction;
  readonly perTransaction: string | null;
  readonly perDay: string | null;
  readonly since: number;
}

/** Fewer endpoints than configured are enough to believe what is final, from `since` until `until`, in milliseconds. */
export interface LoweredWitnessRule extends ActContext {
  readonly witnesses: number;
  readonly since: number;
  readonly until: number;
}

/** An endpoint that is not asked, from `since` until `until`, in milliseconds. */
export interface SuspendedEndpoint extends ActContext {
  /** The endpoint's name in the ledger. */
  readonly endpoint: string;
  readonly since: number;
  readonly until: number;
}

/** Rules for all accounts, or for a single account. */
export interface IntakeRules {
  readonly pauses: readonly Pause[];
  /** Only an account can be suspended. */
  readonly suspended: (ActContext & { readonly since: number }) | null;
  readonly limits: readonly Limit[];
  /** Set for the whole service only. */
  readonly lowered: LoweredWitnessRule | null;
  /** Set for the whole service only. */
  readonly suspendedEndpoints: readonly SuspendedEndpoint[];
}

const NO_RULES: IntakeRules = {
  pauses: [],
  suspended: null,
  limits: [],
  lowered: null,
  suspendedEndpoints: [],
};

/** The id of the gate that all accounts pass. */
export const SERVICE_GATE = "service";

const ACCOUNT_PREFIX = "account ";

export function accountGate(accountId: string): string {
  return `${ACCOUNT_PREFIX}${accountId}`;
}

/** The account of a gate; null for the gate of all accounts. */
export function accountOfGate(id: string): string | null {
  return id.startsWith(ACCOUNT_PREFIX) ? id.slice(ACCOUNT_PREFIX.length) : null;
}

/** The rules of a gate; none where there is no row. */
export function rulesOf(gate: GateRecord | undefined): IntakeRules {
  // A row of an earlier version has no suspended endpoints.
  return gate === undefined ? NO_RULES : { ...NO_RULES, ...(JSON.parse(gate.rules) as IntakeRules) };
}

/**
 * A person and a reason, 1 to 200 characters each, without invisible or control characters. Both go to the audit log:
 * put no secret into them.
 */
export interface ActContext {
  readonly actor: string;
  readonly reason: string;
}

/** The storage of lowered witnesses, and the clock that ends them. */
export interface LoweringParts {
  readonly storage: Pick<FrameStorage, "gates" | "time">;
  readonly clock: Clock;
}

/** Settings of operators that have not ended yet. Settings end by themselves. */
export interface BeliefRules {
  /** Null where the number of witnesses is as configured. */
  readonly lowered: LoweredWitnessRule | null;
  readonly suspendedEndpoints: readonly SuspendedEndpoint[];
}

/** The present settings, and the lead of the storage's clock over the clock of this process. */
export interface BeliefReading {
  readonly rules: BeliefRules;
  readonly aheadMs: number;
}

/** Reads the present settings by the clock of the storage, since clocks of processes may differ. */
export async function readBeliefRules(parts: LoweringParts): Promise<BeliefReading> {
  const [gate] = await parts.storage.gates([SERVICE_GATE]);
  const now = await storageTime(parts);
  return { rules: beliefRulesAt(rulesOf(gate), now), aheadMs: now - parts.clock.now() };
}

export async function beliefRules(parts: LoweringParts): Promise<BeliefRules> {
  return (await readBeliefRules(parts)).rules;
}

/** The part of the rules that holds at this time. */
export function beliefRulesAt({ lowered, suspendedEndpoints }: BeliefRules, now: number): BeliefRules {
  return {
    lowered: lowered !== null && isInForce(lowered, now) ? lowered : null,
    suspendedEndpoints: suspendedEndpoints.filter((each) => isInForce(each, now)),
  };
}

/** Reads the lowered number of witnesses, null where it is as configured. */
export async function loweredWitnesses(parts: LoweringParts): Promise<LoweredWitnessRule | null> {
  return (await beliefRules(parts)).lowered;
}

/** A clock that was set back to before it began does not prolong it. */
export function isInForce(
  { since, until }: Pick<LoweredWitnessRule, "since" | "until">,
  now: number,
): boolean {
  return since <= now && now < until;
}
