/** Pages of the operator's commands, for people. */
import type { Matter } from "../../frame/acts/matter.ts";
import type { AuditEntry } from "../../frame/acts/act.ts";
import type { ErasureResult } from "../erasing.ts";
import type { LimitEntry } from "../gates/limiting.ts";
import type { PausedEntry, PausedScope, SuspendedAccount } from "../gates/pausing.ts";
import type { ResolveResult } from "../../frame/acts/command.ts";
import type { PurseBody } from "../../frame/purses/purses.ts";
import type { SettledTransaction } from "../../frame/acts/evidence.ts";
import { table } from "../../../core/table.ts";

/** Two lines for each matter: the problem, and the command that resolves the matter. */
export function attentionPage(matters: readonly Matter[]): string {
  if (matters.length === 0) return "Nothing needs a person.";
  return matters
    .map(({ id, transactionId, accountId, since, message, actions }) => {
      const of = [transactionId, accountId].filter((each) => each !== undefined).join(", ");
      const todo =
        actions.length === 0 ? "" : `\n    paystate operator resolve ${id} --action ${actions.join("|")}`;
      return `${since}  ${message}${of === "" ? "" : ` (${of})`}${todo}`;
    })
    .join("\n");
}

/** The page about an erasure, and what holds copies of what was erased. */
export function erasurePage({ accountId, reference, state, transactions }: ErasureResult): string {
  const whose = reference === undefined ? `account ${accountId}` : `one reference of account ${accountId}`;
  return state === "done"
    ? `${whose} is erased, ${transactions} transactions. Backups, archives and logs hold it until you remove them.`
    : `${whose}, ${transactions} transactions: another person has to ask for the same.`;
}

/** The funds of each purse, and its shortages. */
export function pursesPage(purses: readonly PurseBody[]): string {
  const rows = purses.map(({ purse, asset, balance, reserved, spentInADay, lastsUntil, isLow, address }) => [
    ...[purse, asset, balance, reserved, spentInADay, lastsUntil ?? "-", isLow ? "low" : "", address],
  ]);
  const headings = ["purse", "asset", "balance", "reserved", "spent in 24 h", "lasts until", "", "address"];
  return table(headings, rows, "There are no purses: neither private mode nor swaps are on.");
}

/** The page about a resolution and its next steps. */
export function resolutionPage({ id, action, state, address, allowed }: ResolveResult): string {
  if (state === "done") return `${id}: ${action} is decided. A service at work carries it out.`;
  const amounts = Object.entries(allowed ?? {}).map(([asset, amount]) => `${amount} ${asset}`);
  const what = amounts.length === 0 ? "" : `, at most ${amounts.join(", ")}`;
  const to = address === undefined ? "" : ` --address ${address}`;
  return `${id}: ${action} has to be confirmed${what}: paystate operator approve ${id}${to}`;
}

/** The page about a settled transaction: its state on the chain, and the status shown to callers. */
export function settledPage({ transactionId, status, landing }: SettledTransaction): string {
  const { signature, slot, error } = landing;
  const ended = error === null ? "" : ` with an error (${error})`;
  return `${transactionId} is settled: ${signature} has landed in slot ${slot}${ended}. It is shown as ${status}.`;
}

/** The scope of a pause, in the words of the options. */
export function scopeInWords({ mode, asset, type, accountId }: PausedScope): string {
  const named = [mode, asset, type, accountId].filter((each) => each !== undefined);
  return named.length === 0 ? "everything" : named.join(", ");
}

/** Pauses and suspended accounts. */
export function pausedPage(pauses: readonly PausedEntry[], accounts: readonly SuspendedAccount[]): string {
  const rows = [
    ...pauses.map((each) => [each.since, "paused", scopeInWords(each), each.actor, each.reason]),
    ...accounts.map((each) => [each.since, "suspended", each.accountId, each.actor, each.reason]),
  ];
  return table(
    ["since", "what", "whom", "actor", "reason"],
    rows,
    "Nothing is paused, and no account is suspended.",
  );
}

/** Every limit. */
export function limitsPage(limits: readonly LimitEntry[]): string {
  const rows = limits.map(({ accountId, asset, direction, perTransaction, perDay, actor, reason }) => [
    ...[accountId ?? "every account", asset, direction, perTransaction ?? "-", perDay ?? "-"],
    ...[actor, reason],
  ]);
  const headings = ["account", "asset", "direction", "per transaction", "per day", "actor", "reason"];
  return table(headings, rows, "There are no limits.");
}

/** The log, and from where the next page goes on. */
export function auditPage(entries: readonly AuditEntry[]): string {
  const rows = entries.map(({ at, actor, act, what, reason }) => [
    at,
    actor,
    act,
    JSON.stringify(what),
    reason,
  ]);
  const last = entries.at(-1);
  const page = table(["at", "actor", "act", "what", "reason"], rows, "Nothing more was done.");
  return last === undefined ? page : `${page}\n\nGoes on with --after ${last.id}`;
}
