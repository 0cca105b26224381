/** `pause`, `resume`, `suspend`, `restore`, `limits` and `paused`: what the service takes, and from whom. */
import type { Direction } from "../../payments/frame/intake/rules.ts";
import type { PausedScope } from "../../payments/operator/gates/pausing.ts";
import { UsageError } from "../command.ts";
import { limitsPage, pausedPage, scopeInWords } from "./pages.ts";
import { ACTING_OPTIONS, actedBy, operatorCommand, SERVICE_OPTIONS } from "./operator-command.ts";

const SCOPE = {
  mode: { type: "string" },
  asset: { type: "string" },
  type: { type: "string" },
  account: { type: "string" },
} as const;

const ON_SCOPE = {
  options: { ...ACTING_OPTIONS, ...SCOPE },
  wanted: (values: ScopeValues & Parameters<typeof actedBy>[0]) => ({
    by: actedBy(values),
    scope: scopeOf(values),
  }),
};

export const pause = operatorCommand({ name: "pause", ...ON_SCOPE }, async (operator, { scope, by }) => {
  const entry = await operator.pause(scope, by);
  return [entry, `Paused: ${scopeInWords(entry)}. Nothing new is taken; what is under way goes on.`];
});

export const resume = operatorCommand({ name: "resume", ...ON_SCOPE }, async (operator, { scope, by }) => {
  await operator.resume(scope, by);
  return [scope, `Resumed: ${scopeInWords(scope)}.`];
});

type ScopeValues = Readonly<Partial<Record<keyof typeof SCOPE, string | undefined>>>;

/** The service checks the words themselves. */
function scopeOf({ mode, asset, type, account }: ScopeValues): PausedScope {
  return {
    ...(mode === undefined ? {} : { mode: mode as NonNullable<PausedScope["mode"]> }),
    ...(asset === undefined ? {} : { asset }),
    ...(type === undefined ? {} : { type: type as NonNullable<PausedScope["type"]> }),
    ...(account === undefined ? {} : { accountId: account }),
  };
}

export const paused = operatorCommand(
  { name: "paused", options: SERVICE_OPTIONS, wanted: () => null },
  async (operator) => {
    const [pauses, accounts] = await Promise.all([operator.paused(), operator.suspendedAccounts()]);
    return [{ paused: pauses, suspended: accounts }, pausedPage(pauses, accounts)];
  },
);

export const limits = operatorCommand(
  {
    name: "limits",
    options: {
      ...ACTING_OPTIONS,
      account: SCOPE.account,
      asset: SCOPE.asset,
      direction: { type: "string" },
      "per-transaction": { type: "string" },
      "per-day": { type: "string" },
    },
    wanted(values) {
      const { asset, account, direction, "per-transaction": perTransaction, "per-day": perDay } = values;
      const given = [asset, account, direction, perTransaction, perDay];
      if (given.every((each) => each === undefined)) return null;
      if (asset === undefined) throw new UsageError("expected the --asset that is limited");
      const limited = { accountId: account, asset, perTransaction, perDay };
      return { limited: { ...limited, direction: direction as Direction | undefined }, by: actedBy(values) };
    },
  },
  async (operator, wanted) => {
    if (wanted !== null) await operator.setLimits(wanted.limited, wanted.by);
    const all = await operator.limits();
    return [all, limitsPage(all)];
  },
);

const ON_ACCOUNT = { takes: "the id of an account", options: ACTING_OPTIONS, wanted: actedBy };

export const suspend = operatorCommand(
  { name: "suspend", ...ON_ACCOUNT },
  async (operator, by, accountId) => {
    const account = await operator.suspendAccount(accountId, by);
    return [account, `${accountId} is suspended. Nothing new is taken for it; what is under way goes on.`];
  },
);

export const restore = operatorCommand(
  { name: "restore", ...ON_ACCOUNT },
  async (operator, by, accountId) => {
    await operator.restoreAccount(accountId, by);
    return [{ accountId }, `${accountId} is restored.`];
  },
);
