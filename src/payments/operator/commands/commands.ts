/** The operator's commands: a row each, with the call of the operator's part of a service and its page. */
import {
  argument,
  flag,
  neededOneOf,
  neededText,
  oneOf,
  optionalNumber,
  text,
  wholeNumber,
} from "../../../core/takes.ts";
import { acting, reading, type OperatorCommand } from "../../frame/acts/act-command.ts";
import type { ResolveCommand } from "../../frame/acts/command.ts";
import type { PausedScope } from "../gates/pausing.ts";
import type { CommonOperator } from "../operator.ts";
import {
  attentionPage,
  auditPage,
  erasurePage,
  limitsPage,
  pausedPage,
  pursesPage,
  resolutionPage,
  scopeInWords,
  settledPage,
} from "./pages.ts";

type Command = OperatorCommand<CommonOperator>;

/** The fields of each action, and whether they are required. */
const ACTIONS = {
  retry: {},
  drop: {},
  writeOff: {},
  settle: { signature: "needed" },
  hold: {},
  release: {},
  decline: {},
  foreclose: { chunk: "needed" },
  conclude: {},
  refundTo: { address: "needed", asset: "optional" },
  collect: {},
  foreign: { mint: "needed", address: "optional" },
} as const satisfies Record<ResolveCommand["action"], Partial<Record<Detail, "needed" | "optional">>>;

type Detail = "signature" | "chunk" | "address" | "asset" | "mint";
type Action = keyof typeof ACTIONS;

const DETAILS: readonly Detail[] = ["signature", "chunk", "address", "asset", "mint"];
const ACTION_NAMES = Object.keys(ACTIONS) as Action[];

interface Decision extends Readonly<Partial<Record<Detail, string | undefined>>> {
  readonly action: Action;
}

/** The service checks the rest of it, as for every caller. */
function faultOf({ action, ...given }: Decision): string | null {
  const takes: Partial<Record<Detail, "needed" | "optional">> = ACTIONS[action];
  for (const detail of DETAILS) {
    if (given[detail] === undefined && takes[detail] === "needed") {
      return `--action ${action} expects --${detail}`;
    }
    if (given[detail] !== undefined && takes[detail] === undefined) {
      const taking = ACTION_NAMES.filter((name) => detail in ACTIONS[name]);
      return `--${detail} expects --action ${taking.join(" or ")}`;
    }
  }
  return null;
}

function resolveCommandOf({ action, ...given }: Decision): ResolveCommand {
  const details = DETAILS.flatMap((detail) => {
    const value = given[detail];
    return value === undefined ? [] : [[detail, detail === "chunk" ? Number(value) : value] as const];
  });
  return { action, ...Object.fromEntries(details) } as ResolveCommand;
}

const SCOPE = {
  mode: text("MODE", "wallet or private"),
  asset: text("ASSET", "such as USDC"),
  type: text("TYPE", "send, swap or payroll"),
  account: text("ACCOUNT_ID", "of one account alone"),
};

type ScopeValues = Readonly<Partial<Record<keyof typeof SCOPE, string | undefined>>>;

/** The service checks the words themselves. */
function scopeOf({ mode, asset, type, account }: ScopeValues): PausedScope {
  const given = { mode, asset, type, accountId: account };
  return Object.fromEntries(Object.entries(given).filter(([, word]) => word !== undefined)) as PausedScope;
}

const ACCOUNT = { accountId: argument("ACCOUNT_ID", "the id of an account") };
const MATTER = { id: argument("ID", "of a matter, or of the transaction of a private order") };
const MINUTES = { least: 1, most: 24 * 60 };

const decisions: readonly Command[] = [
  reading(
    {
      name: "operator attention",
      help: "Lists what needs a person, oldest first, and what can be done about it",
      takes: {},
    },
    async (operator: CommonOperator) => {
      const matters = await operator.attention();
      return [matters, attentionPage(matters)];
    },
  ),
  acting(
    {
      name: "operator resolve",
      help: "Decides about a matter, or about an order of private mode",
      takes: {
        ...MATTER,
        action: neededOneOf("ACTION", ACTION_NAMES, "what is decided"),
        signature: text("SIGNATURE", "of settle: under which it landed"),
        chunk: text("NUMBER", "of foreclose: the group of recipients that is given up, from 1"),
        address: text("ADDRESS", "of refundTo and foreign: who gets what is there"),
        asset: text("ASSET", "of refundTo; the order's own by default"),
        mint: text("MINT", "of foreign: which tokens go; to the sender by default"),
      },
      fault: faultOf,
    },
    async (operator: CommonOperator, { id, ...decision }, by) => {
      const resolution = await operator.resolve(id, resolveCommandOf(decision), by);
      return [resolution, resolutionPage(resolution)];
    },
  ),
  acting(
    {
      name: "operator approve",
      help: "Confirms what was asked for last about a matter or an order",
      takes: { ...MATTER, address: text("ADDRESS", "who gets the money, if anybody does") },
    },
    async (operator: CommonOperator, { id, address }, by) => {
      const resolution = await operator.approve(id, { address }, by);
      return [resolution, resolutionPage(resolution)];
    },
  ),
  acting(
    {
      name: "operator settle",
      help: "Settles a wallet transaction, also one that was cancelled or given up, by what the chain shows of a signature",
      takes: {
        transactionId: argument("TRANSACTION_ID", "the id of a transaction"),
        signature: neededText("SIGNATURE", "under which it landed"),
      },
    },
    async (operator: CommonOperator, wanted, by) => {
      const settled = await operator.settleTransaction(wanted, by);
      const { landing, ...rest } = settled;
      return [{ ...rest, landing: { ...landing, fee: String(landing.fee) } }, settledPage(settled)];
    },
  ),
  acting(
    {
      name: "account erase",
      help: "Erases personal data of a suspended account, or of one customer's transactions. It is refused while a transaction is open or a deposit address is under 60 days old. The same command by another --actor does it. Amounts, addresses and signatures stay.",
      takes: { ...ACCOUNT, reference: text("REFERENCE", "of one customer alone") },
    },
    async (operator: CommonOperator, erasure, by) => {
      const result = await operator.erase(erasure, by);
      return [result, erasurePage(result)];
    },
  ),
];

const rules: readonly Command[] = [
  acting(
    {
      name: "operator pause",
      help: "Takes nothing new of a kind, or nothing at all. Work under way goes on.",
      takes: SCOPE,
    },
    async (operator: CommonOperator, scope, by) => {
      const entry = await operator.pause(scopeOf(scope), by);
      return [entry, `Paused: ${scopeInWords(entry)}. Nothing new is taken; what is under way goes on.`];
    },
  ),
  acting(
    { name: "operator resume", help: "Takes again what was paused", takes: SCOPE },
    async (operator: CommonOperator, values, by) => {
      const scope = scopeOf(values);
      await operator.resume(scope, by);
      return [scope, `Resumed: ${scopeInWords(scope)}.`];
    },
  ),
  acting(
    {
      name: "operator suspend",
      help: "Takes nothing new for an account. Work under way goes on.",
      takes: ACCOUNT,
    },
    async (operator: CommonOperator, { accountId }, by) => {
      const account = await operator.suspendAccount(accountId, by);
      return [account, `${accountId} is suspended. Nothing new is taken for it; what is under way goes on.`];
    },
  ),
  acting(
    { name: "operator restore", help: "Ends the suspension of an account", takes: ACCOUNT },
    async (operator: CommonOperator, { accountId }, by) => {
      await operator.restoreAccount(accountId, by);
      return [{ accountId }, `${accountId} is restored.`];
    },
  ),
  reading(
    { name: "operator paused", help: "Lists what is paused and who is suspended", takes: {} },
    async (operator: CommonOperator) => {
      const [pauses, accounts] = await Promise.all([operator.paused(), operator.suspendedAccounts()]);
      return [{ paused: pauses, suspended: accounts }, pausedPage(pauses, accounts)];
    },
  ),
  reading(
    { name: "operator limits", help: "Lists the limits on amounts", takes: {} },
    async (operator: CommonOperator) => {
      const all = await operator.limits();
      return [all, limitsPage(all)];
    },
  ),
  acting(
    {
      name: "operator limit",
      help: "Sets limits on amounts of an asset, for one account or for every account, in place of those before. Without an amount it ends them. Then it lists all.",
      takes: {
        asset: neededText("ASSET", "such as USDC"),
        perTransaction: text("AMOUNT", "the most of one transaction"),
        perDay: text("AMOUNT", "the most of a day"),
        direction: oneOf("DIRECTION", ["in", "out"], "default both"),
        account: SCOPE.account,
      },
    },
    async (operator: CommonOperator, { account, ...limited }, by) => {
      await operator.setLimits({ accountId: account, ...limited }, by);
      const all = await operator.limits();
      return [all, limitsPage(all)];
    },
  ),
];

const chain: readonly Command[] = [
  acting(
    {
      name: "operator witnesses",
      help: "Believes what is final on the word of fewer endpoints, while some are missing, for a day at most. It ends by itself, or by --restore.",
      takes: {
        lower: optionalNumber("NUMBER", "how many have to agree", { least: 1, most: 100 }),
        minutes: optionalNumber("MINUTES", "for how long", MINUTES),
        restore: flag("ends that early"),
      },
      fault({ lower, minutes, restore }) {
        const isWhole = (lower === undefined) === (minutes === undefined);
        if (isWhole && (lower === undefined) === restore) return null;
        return "expected --lower NUMBER with --minutes MINUTES, or --restore";
      },
    },
    async (operator: CommonOperator, { lower, minutes }, by) => {
      if (lower === undefined || minutes === undefined) {
        await operator.restoreWitnesses(by);
        return [{ restored: true }, "The ledger's own number of witnesses holds again."];
      }
      const entry = await operator.lowerWitnesses({ witnesses: lower, minutes }, by);
      return [
        entry,
        `Until ${entry.until} the word of ${entry.witnesses} is enough for what is final. It ends by itself.`,
      ];
    },
  ),
  acting(
    {
      name: "operator endpoint",
      help: "Takes an endpoint that answers wrongly out of service, for a day at most. It ends by itself, or by --restore.",
      takes: {
        suspend: text("NAME", "the endpoint that is not asked"),
        minutes: optionalNumber("MINUTES", "for how long", MINUTES),
        restore: text("NAME", "the endpoint that is asked again"),
      },
      fault({ suspend, minutes, restore }) {
        const isWhole = (suspend === undefined) === (minutes === undefined);
        if (isWhole && (suspend === undefined) !== (restore === undefined)) return null;
        return "expected --suspend NAME with --minutes MINUTES, or --restore NAME";
      },
    },
    async (operator: CommonOperator, { suspend: endpoint = "", minutes = 0, restore }, by) => {
      if (restore !== undefined) {
        await operator.restoreEndpoint(restore, by);
        return [{ restored: restore }, `${restore} is in service again.`];
      }
      const entry = await operator.suspendEndpoint({ endpoint, minutes }, by);
      return [entry, `Until ${entry.until} ${entry.endpoint} is not asked. It ends by itself.`];
    },
  ),
  reading(
    {
      name: "operator purses",
      help: "Shows what the service's own wallets hold, what of it is promised, what the last day took, and how long the rest lasts",
      takes: {},
    },
    async (operator: CommonOperator) => {
      const held = await operator.purses();
      return [held, pursesPage(held)];
    },
  ),
];

const books: readonly Command[] = [
  reading(
    {
      name: "operator audit",
      help: "Prints the audit log, oldest first",
      takes: {
        after: text("ID", "the last entry that is known"),
        limit: wholeNumber("N", "how many", { least: 1, most: 1_000, fallback: 100 }),
      },
    },
    async (operator: CommonOperator, page) => {
      const entries = await operator.auditLog(page);
      return [entries, auditPage(entries)];
    },
  ),
];

/** In the order of help. */
export const operatorCommands: readonly Command[] = [...decisions, ...rules, ...chain, ...books];
