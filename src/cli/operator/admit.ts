/** `pause`, `resume`, `suspend`, `restore`, `limits` and `paused`: what the service takes, and from whom. */
import type { Direction } from "../../payments/intake/rules.ts";
import type { PausedScope } from "../../payments/operator/gates/pausing.ts";
import { type Command, UsageError } from "../command.ts";
import { noArgument, onlyArgument, readArguments } from "../read-arguments.ts";
import { limitsPage, pausedPage, scopeInWords } from "./pages.ts";
import { ACTING_OPTIONS, actedBy, SERVICE_OPTIONS, shown, withOperator } from "./with-operator.ts";

const SCOPE = {
  mode: { type: "string" },
  asset: { type: "string" },
  type: { type: "string" },
  account: { type: "string" },
} as const;

export const pause: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, { ...ACTING_OPTIONS, ...SCOPE });
  noArgument("pause", positionals);
  const by = actedBy(values);
  await withOperator(values, async (operator) => {
    const entry = await operator.pause(scopeOf(values), by);
    const said = `Paused: ${scopeInWords(entry)}. Nothing new is taken; what is under way goes on.`;
    print(shown(values.json, entry, said));
  });
};

export const resume: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, { ...ACTING_OPTIONS, ...SCOPE });
  noArgument("resume", positionals);
  const by = actedBy(values);
  const scope = scopeOf(values);
  await withOperator(values, async (operator) => {
    await operator.resume(scope, by);
    print(shown(values.json, scope, `Resumed: ${scopeInWords(scope)}.`));
  });
};

/** The service checks the words themselves. */
function scopeOf(values: Readonly<Partial<Record<keyof typeof SCOPE, string | undefined>>>): PausedScope {
  const { mode, asset, type, account } = values;
  return {
    ...(mode === undefined ? {} : { mode: mode as NonNullable<PausedScope["mode"]> }),
    ...(asset === undefined ? {} : { asset }),
    ...(type === undefined ? {} : { type: type as NonNullable<PausedScope["type"]> }),
    ...(account === undefined ? {} : { accountId: account }),
  };
}

export const paused: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, SERVICE_OPTIONS);
  noArgument("paused", positionals);
  await withOperator(values, async (operator) => {
    const [pauses, accounts] = await Promise.all([operator.paused(), operator.suspendedAccounts()]);
    print(shown(values.json, { paused: pauses, suspended: accounts }, pausedPage(pauses, accounts)));
  });
};

export const limits: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...ACTING_OPTIONS,
    account: SCOPE.account,
    asset: SCOPE.asset,
    direction: { type: "string" },
    "per-transaction": { type: "string" },
    "per-day": { type: "string" },
  });
  noArgument("limits", positionals);
  const { asset, account, direction, "per-transaction": perTransaction, "per-day": perDay } = values;
  const isRead = [asset, account, direction, perTransaction, perDay].every((each) => each === undefined);
  if (!isRead && asset === undefined) throw new UsageError("expected the --asset that is limited");
  const by = isRead ? null : actedBy(values);
  await withOperator(values, async (operator) => {
    if (asset !== undefined && by !== null) {
      const wanted = { accountId: account, asset, perTransaction, perDay };
      await operator.setLimits({ ...wanted, direction: direction as Direction | undefined }, by);
    }
    const all = await operator.limits();
    print(shown(values.json, all, limitsPage(all)));
  });
};

export const suspend: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, ACTING_OPTIONS);
  const accountId = onlyArgument("suspend", "the id of an account", positionals);
  const by = actedBy(values);
  await withOperator(values, async (operator) => {
    const account = await operator.suspendAccount(accountId, by);
    const said = `${accountId} is suspended. Nothing new is taken for it; what is under way goes on.`;
    print(shown(values.json, account, said));
  });
};

export const restore: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, ACTING_OPTIONS);
  const accountId = onlyArgument("restore", "the id of an account", positionals);
  const by = actedBy(values);
  await withOperator(values, async (operator) => {
    await operator.restoreAccount(accountId, by);
    print(shown(values.json, { accountId }, `${accountId} is restored.`));
  });
};
