/** Suspends accounts: a suspended account starts nothing new; reads, cancels and open transactions go on. */
import { isoTime } from "../../iso-time.ts";
import { readActContext, readCommand } from "../act.ts";
import type { ActContext } from "../../act-context.ts";
import { OperatorRefused } from "../operator-refused.ts";
import { accountIdField, type GateParts } from "./gate-rule-storage.ts";
import { accountOfGate } from "../../intake/rules.ts";

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

export async function suspendAccount(
  parts: GateParts,
  given: string,
  by: ActContext,
): Promise<SuspendedAccount> {
  const accountId = readCommand(accountIdField, given);
  const acted = readActContext(by);
  const since = parts.clock.now();
  await parts.gates.change(
    accountId,
    (rules) => {
      if (rules.suspended !== null) throw new OperatorRefused(`account ${accountId} is suspended already`);
      return { ...rules, suspended: { ...acted, since } };
    },
    { by: acted, act: "suspend", what: { accountId } },
  );
  return { accountId, ...acted, since: isoTime(since) };
}

export async function restoreAccount(parts: GateParts, given: string, by: ActContext): Promise<void> {
  const accountId = readCommand(accountIdField, given);
  const acted = readActContext(by);
  await parts.gates.change(
    accountId,
    (rules) => {
      if (rules.suspended === null) throw new OperatorRefused(`account ${accountId} is not suspended`);
      return { ...rules, suspended: null };
    },
    { by: acted, act: "restore", what: { accountId } },
  );
}

export async function listSuspensions(parts: GateParts): Promise<readonly SuspendedAccount[]> {
  const found = [...(await parts.gates.all())].flatMap(([id, { suspended }]) => {
    const accountId = accountOfGate(id);
    if (suspended === null || accountId === null) return [];
    const { since, ...by } = suspended;
    return [{ accountId, ...by, since: isoTime(since) }];
  });
  return found.toSorted((a, b) => (a.since < b.since ? -1 : 1));
}
