/** Pauses new transactions and quotes, of all or of one account; open ones go on, and reads and cancels keep working. */
import { z } from "zod";
import { isoTime } from "../../frame/iso-time.ts";
import { OperatorRefused } from "../../frame/acts/act.ts";
import { type ActContext, accountOfGate, type Pause, type PauseScope } from "../../frame/intake/rules.ts";
import type { GateAct } from "./gate-act.ts";
import { accountIdField, mintOf, type GateParts } from "./gate-rule-storage.ts";

/** Scope of a pause: transactions that match every given field; without fields, all transactions. */
export interface PausedScope {
  readonly mode?: "wallet" | "private" | undefined;
  /** A symbol or a mint; transactions that give or get the asset are paused. */
  readonly asset?: string | undefined;
  readonly type?: "send" | "swap" | "payroll" | undefined;
  readonly accountId?: string | undefined;
}

/** A pause, as it is listed. */
export interface PausedEntry extends ActContext {
  readonly mode?: "wallet" | "private";
  /** The symbol of the asset. */
  readonly asset?: string;
  readonly type?: "send" | "swap" | "payroll";
  readonly accountId?: string;
  /** ISO 8601 in UTC. */
  readonly since: string;
}

/** Pausing new transactions and quotes. */
export interface PauseCommands {
  /** Pauses; a scope that is paused already is refused, so that no operator resumes another's pause. */
  pause(scope: PausedScope, by: ActContext): Promise<PausedEntry>;
  /** Ends the pause of exactly this scope; refused when there is none. */
  resume(scope: PausedScope, by: ActContext): Promise<void>;
  /** Every pause, oldest first. */
  paused(): Promise<readonly PausedEntry[]>;
}

const pausedScope = z.strictObject({
  mode: z.enum(["wallet", "private"]).optional(),
  asset: z.string().min(1).max(128).optional(),
  type: z.enum(["send", "swap", "payroll"]).optional(),
  accountId: accountIdField.optional(),
});

export const PAUSE: GateAct<GateParts, PausedScope, PausedEntry> = {
  act: "pause",
  given: pausedScope,
  what: (given) => ({ ...given }),
  decide(parts, given, by) {
    const { scope, accountId } = readScope(parts, given);
    const added: Pause = { ...scope, ...by, since: parts.clock.now() };
    const told = shown(parts, added, accountId);
    return {
      accountId,
      told,
      change(rules) {
        if (rules.pauses.some((each) => isSameScope(each, scope))) {
          throw new OperatorRefused(`${inWords(told)} is paused already`);
        }
        return { ...rules, pauses: [...rules.pauses, added] };
      },
    };
  },
};

export const RESUME: GateAct<GateParts, PausedScope, void> = {
  act: "resume",
  given: pausedScope,
  what: (given) => ({ ...given }),
  decide(parts, given) {
    const { scope, accountId } = readScope(parts, given);
    return {
      accountId,
      told: undefined,
      change(rules) {
        const pauses = rules.pauses.filter((each) => !isSameScope(each, scope));
        if (pauses.length === rules.pauses.length) {
          throw new OperatorRefused(`${inWords(given)} is not paused: name exactly what was paused`);
        }
        return { ...rules, pauses };
      },
    };
  },
};

export async function listPauses(parts: GateParts): Promise<readonly PausedEntry[]> {
  const all = [...(await parts.gates.all())].flatMap(([id, { pauses }]) =>
    pauses.map((each) => shown(parts, each, accountOfGate(id))),
  );
  return all.toSorted((a, b) => (a.since < b.since ? -1 : 1));
}

function readScope(
  parts: GateParts,
  { mode, asset, type, accountId }: PausedScope,
): { scope: PauseScope; accountId: string | null } {
  const mint = asset === undefined ? undefined : mintOf(parts.assets, asset);
  const scope: PauseScope = {
    ...(mode === undefined ? {} : { mode }),
    ...(mint === undefined ? {} : { mint }),
    ...(type === undefined ? {} : { type }),
  };
  return { scope, accountId: accountId ?? null };
}

function shown(parts: GateParts, { mint, since, ...rest }: Pause, accountId: string | null): PausedEntry {
  return {
    ...rest,
    ...(mint === undefined ? {} : { asset: parts.assets.ofMint(mint)?.symbol ?? mint }),
    ...(accountId === null ? {} : { accountId }),
    since: isoTime(since),
  };
}

function isSameScope(one: PauseScope, other: PauseScope): boolean {
  return one.mode === other.mode && one.mint === other.mint && one.type === other.type;
}

function inWords({ mode, asset, type, accountId }: PausedScope): string {
  const named = [
    ["mode", mode],
    ["asset", asset],
    ["type", type],
    ["account", accountId],
  ].filter(([, value]) => value !== undefined);
  return named.length === 0 ? "the service" : named.map(([name, value]) => `${name} ${value}`).join(", ");
}

/** A suspended account. */
export interface SuspendedAccount extends ActContext {
  readonly accountId: string;
  /** ISO 8601 in UTC. */
  readonly since: string;
}

/** Suspending accounts. */
export interface SuspensionCommands {
  /** Suspends an account; refused when it is suspended already. The account need not be known here. */
  suspendAccount(accountId: string, by: ActContext): Promise<SuspendedAccount>;
  /** Ends the suspension; refused when there is none. */
  restoreAccount(accountId: string, by: ActContext): Promise<void>;
  /** Every suspended account, oldest suspension first. */
  suspendedAccounts(): Promise<readonly SuspendedAccount[]>;
}

export const SUSPEND: GateAct<GateParts, string, SuspendedAccount> = {
  act: "suspend",
  given: accountIdField,
  what: (accountId) => ({ accountId }),
  decide({ clock }, accountId, by) {
    const since = clock.now();
    return {
      accountId,
      told: { accountId, ...by, since: isoTime(since) },
      change(rules) {
        if (rules.suspended !== null) throw new OperatorRefused(`account ${accountId} is suspended already`);
        return { ...rules, suspended: { ...by, since } };
      },
    };
  },
};

export const RESTORE: GateAct<GateParts, string, void> = {
  act: "restore",
  given: accountIdField,
  what: (accountId) => ({ accountId }),
  decide: (_, accountId) => ({
    accountId,
    told: undefined,
    change(rules) {
      if (rules.suspended === null) throw new OperatorRefused(`account ${accountId} is not suspended`);
      return { ...rules, suspended: null };
    },
  }),
};

export async function listSuspensions(parts: GateParts): Promise<readonly SuspendedAccount[]> {
  const found = [...(await parts.gates.all())].flatMap(([id, { suspended }]) => {
    const accountId = accountOfGate(id);
    if (suspended === null || accountId === null) return [];
    const { since, ...by } = suspended;
    return [{ accountId, ...by, since: isoTime(since) }];
  });
  return found.toSorted((a, b) => (a.since < b.since ? -1 : 1));
}
