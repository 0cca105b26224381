/** Suspending an account: nothing new is taken for it; its reads, its cancels and what is under way go on. */
import type { Clock } from "../../../runtime.ts";
import { isoTime } from "../../iso-time.ts";
import { readActedBy, readCommand } from "../act.ts";
import type { ActedBy } from "../../acted-by.ts";
import { OperatorRefused } from "../operator-refused.ts";
import type { GateBook } from "./gate-book.ts";
import { accountIdField } from "./pausing.ts";
import { accountOfGate } from "../../intake/rules.ts";

/** A suspended account. */
export interface SuspendedAccount extends ActedBy {
  readonly accountId: string;
  /** ISO 8601 in UTC. */
  readonly since: string;
}

/** Suspending accounts. */
export interface Suspending {
  /** Suspends an account; refused when it is suspended already. The account need not be known here. */
  suspendAccount(accountId: string, by: ActedBy): Promise<SuspendedAccount>;
  /** Ends the suspension; refused when there is none. */
  restoreAccount(accountId: string, by: ActedBy): Promise<void>;
  /** Every suspended account, oldest suspension first. */
  suspendedAccounts(): Promise<readonly SuspendedAccount[]>;
}

export function createSuspending({
  gates,
  clock,
}: {
  readonly gates: GateBook;
  readonly clock: Clock;
}): Suspending {
  return {
    async suspendAccount(given, by) {
      const accountId = readCommand(accountIdField, given);
      const acted = readActedBy(by);
      const since = clock.now();
      await gates.change(
        accountId,
        (rules) => {
          if (rules.suspended !== null) {
            throw new OperatorRefused(`account ${accountId} is suspended already`);
          }
          return { ...rules, suspended: { ...acted, since } };
        },
        { by: acted, act: "suspend", what: { accountId } },
      );
      return { accountId, ...acted, since: isoTime(since) };
    },

    async restoreAccount(given, by) {
      const accountId = readCommand(accountIdField, given);
      const acted = readActedBy(by);
      await gates.change(
        accountId,
        (rules) => {
          if (rules.suspended === null) throw new OperatorRefused(`account ${accountId} is not suspended`);
          return { ...rules, suspended: null };
        },
        { by: acted, act: "restore", what: { accountId } },
      );
    },

    async suspendedAccounts() {
      const found = [...(await gates.all())].flatMap(([id, { suspended }]) => {
        const accountId = accountOfGate(id);
        if (suspended === null || accountId === null) return [];
        const { since, ...by } = suspended;
        return [{ accountId, ...by, since: isoTime(since) }];
      });
      return found.toSorted((a, b) => (a.since < b.since ? -1 : 1));
    },
  };
}
