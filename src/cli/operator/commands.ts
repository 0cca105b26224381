/** The operator's commands: each reads its arguments, calls `service.operator`, and prints what came of it. */
import type { Operator } from "../../payments/operator/operator.ts";
import type { ActedBy } from "../../payments/acted-by.ts";
import type { PausedScope } from "../../payments/operator/gates/pausing.ts";
import type { Direction } from "../../payments/intake/rules.ts";
import { readRecoveryFile } from "../../payments/operator/recovery/journal-file.ts";
import type { ResolveCommand } from "../../payments/operator/resolve/command.ts";
import { openService } from "../open-service.ts";
import { oneOf, readArguments, wholeNumber } from "../read-arguments.ts";
import { UsageError } from "../usage-error.ts";
import {
  attentionPage,
  auditPage,
  limitsPage,
  pausedPage,
  recoveryPage,
  resolutionPage,
  scopeInWords,
} from "./pages.ts";

type Print = (text: string) => void;
type Command = (args: readonly string[], print: Print) => Promise<void>;

const WHOSE = {
  data: { type: "string" },
  service: { type: "string" },
  json: { type: "boolean", default: false },
  debug: { type: "boolean", default: false },
} as const;
const BY = { actor: { type: "string" }, reason: { type: "string" } } as const;
const SCOPE = {
  mode: { type: "string" },
  asset: { type: "string" },
  type: { type: "string" },
  account: { type: "string" },
} as const;

const ACTIONS = ["retry", "drop", "release", "refundTo", "writeOff", "settle"] as const;

/** Opens the named service, lets `act` use its operator's room, and closes it. */
async function inRoom(
  whose: { readonly data?: string | undefined; readonly service?: string | undefined },
  act: (operator: Operator) => Promise<void>,
): Promise<void> {
  const { service, close } = await openService(whose);
  if (service.operator === undefined) {
    throw new Error("the exported `service` has no operator: expected what createPaymentService returns");
  }
  await act(service.operator);
  await close();
}

function actedBy({ actor, reason }: { actor?: string | undefined; reason?: string | undefined }): ActedBy {
  if (actor === undefined) throw new UsageError("expected --actor NAME: who acts stands in the audit log");
  if (reason === undefined) throw new UsageError("expected --reason TEXT: why stands in the audit log");
  return { actor, reason };
}

/** The one argument that a command takes. */
function only(command: string, what: string, [first, second]: readonly string[]): string {
  if (first === undefined) throw new UsageError(`${command} expects ${what}`);
  if (second !== undefined) throw new UsageError(`${command} takes ${what}, and no "${second}"`);
  return first;
}

function none(command: string, [first]: readonly string[]): void {
  if (first !== undefined) throw new UsageError(`${command} takes no argument "${first}"`);
}

/** A list: the page, or one line of JSON. */
function show(print: Print, json: boolean, value: unknown, page: string): void {
  print(json ? JSON.stringify(value) : page);
}

const attention: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, WHOSE);
  none("attention", positionals);
  await inRoom(values, async (operator) => {
    const matters = await operator.attention();
    show(print, values.json, matters, attentionPage(matters));
  });
};

const resolve: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...{ ...WHOSE, ...BY },
    ...{ action: { type: "string" }, address: { type: "string" }, signature: { type: "string" } },
  } as const);
  const id = only("resolve", "the id of a matter", positionals);
  const command = resolveCommandOf(values);
  const by = actedBy(values);
  await inRoom(values, async (operator) => {
    const resolution = await operator.resolve(id, command, by);
    show(print, values.json, resolution, resolutionPage(resolution));
  });
};

function resolveCommandOf({
  action = "",
  address,
  signature,
}: {
  readonly action?: string | undefined;
  readonly address?: string | undefined;
  readonly signature?: string | undefined;
}): ResolveCommand {
  oneOf("--action", action, ACTIONS);
  if (address !== undefined && action !== "refundTo") {
    throw new UsageError("--address expects --action refundTo");
  }
  if (signature !== undefined && action !== "settle") {
    throw new UsageError("--signature expects --action settle");
  }
  if (action === "refundTo") {
    if (address === undefined) {
      throw new UsageError("--action refundTo expects the --address that gets the money");
    }
    return { action, address };
  }
  if (action === "settle") {
    if (signature === undefined) {
      throw new UsageError("--action settle expects the --signature that has landed");
    }
    return { action, signature };
  }
  return { action: action as "retry" | "drop" | "release" | "writeOff" };
}

const approve: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, { ...WHOSE, ...BY });
  const id = only("approve", "the id of a matter", positionals);
  const by = actedBy(values);
  await inRoom(values, async (operator) => {
    const resolution = await operator.approve(id, by);
    show(print, values.json, resolution, resolutionPage(resolution));
  });
};

const pause: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, { ...WHOSE, ...BY, ...SCOPE });
  none("pause", positionals);
  const by = actedBy(values);
  await inRoom(values, async (operator) => {
    const entry = await operator.pause(scopeOf(values), by);
    const said = `Paused: ${scopeInWords(entry)}. Nothing new is taken; what is under way goes on.`;
    show(print, values.json, entry, said);
  });
};

const resume: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, { ...WHOSE, ...BY, ...SCOPE });
  none("resume", positionals);
  const by = actedBy(values);
  const scope = scopeOf(values);
  await inRoom(values, async (operator) => {
    await operator.resume(scope, by);
    show(print, values.json, scope, `Resumed: ${scopeInWords(scope)}.`);
  });
};

/** The service checks the words themselves. */
function scopeOf({
  mode,
  asset,
  type,
  account,
}: Readonly<Partial<Record<keyof typeof SCOPE, string | undefined>>>): PausedScope {
  return {
    ...(mode === undefined ? {} : { mode: mode as NonNullable<PausedScope["mode"]> }),
    ...(asset === undefined ? {} : { asset }),
    ...(type === undefined ? {} : { type: type as NonNullable<PausedScope["type"]> }),
    ...(account === undefined ? {} : { accountId: account }),
  };
}

const paused: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, WHOSE);
  none("paused", positionals);
  await inRoom(values, async (operator) => {
    const [pauses, accounts] = await Promise.all([operator.paused(), operator.suspendedAccounts()]);
    show(print, values.json, { paused: pauses, suspended: accounts }, pausedPage(pauses, accounts));
  });
};

const limits: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...{ ...WHOSE, ...BY, account: SCOPE.account, asset: SCOPE.asset },
    ...{
      "per-transaction": { type: "string" },
      "per-day": { type: "string" },
      direction: { type: "string" },
    },
  } as const);
  none("limits", positionals);
  const { asset, account, direction, "per-transaction": perTransaction, "per-day": perDay } = values;
  const isRead = [asset, account, direction, perTransaction, perDay].every((each) => each === undefined);
  if (!isRead && asset === undefined) throw new UsageError("expected the --asset that is limited");
  const by = isRead ? null : actedBy(values);
  await inRoom(values, async (operator) => {
    if (asset !== undefined && by !== null) {
      const wanted = { accountId: account, asset, perTransaction, perDay };
      await operator.setLimits({ ...wanted, direction: direction as Direction | undefined }, by);
    }
    const all = await operator.limits();
    show(print, values.json, all, limitsPage(all));
  });
};

const suspend: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, { ...WHOSE, ...BY });
  const accountId = only("suspend", "the id of an account", positionals);
  const by = actedBy(values);
  await inRoom(values, async (operator) => {
    const account = await operator.suspendAccount(accountId, by);
    const said = `${accountId} is suspended. Nothing new is taken for it; what is under way goes on.`;
    show(print, values.json, account, said);
  });
};

const restore: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, { ...WHOSE, ...BY });
  const accountId = only("restore", "the id of an account", positionals);
  const by = actedBy(values);
  await inRoom(values, async (operator) => {
    await operator.restoreAccount(accountId, by);
    show(print, values.json, { accountId }, `${accountId} is restored.`);
  });
};

const audit: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...WHOSE,
    ...{ after: { type: "string" }, limit: { type: "string", default: "100" } },
  } as const);
  none("audit", positionals);
  const limit = wholeNumber("--limit", values.limit, 1, 1_000);
  await inRoom(values, async (operator) => {
    const entries = await operator.auditLog({ after: values.after, limit });
    show(print, values.json, entries, auditPage(entries));
  });
};

const recover: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, { ...WHOSE, ...BY, to: { type: "string" } } as const);
  const file = only("recover", "a file of ids", positionals);
  const by = actedBy(values);
  const { to } = values;
  const ids = await readRecoveryFile(file).catch((cause: unknown) => {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    throw new Error(`${file} cannot be read (${code}): name a file with one id in a line`, { cause });
  });
  await inRoom(values, async (operator) => {
    const addresses = await operator.recover(ids, by);
    if (!values.json) print(recoveryPage(addresses));
    const sent = to === undefined ? [] : await sendOn(operator, to, by, addresses);
    if (values.json) print(JSON.stringify({ addresses, sent }));
    else for (const resolution of sent) print(resolutionPage(resolution));
  });
};

/** Money whose way nothing makes doubtful goes to one address; what has paid already waits for a decision of its own. */
async function sendOn(
  operator: Operator,
  address: string,
  by: ActedBy,
  addresses: Awaited<ReturnType<Operator["recover"]>>,
): Promise<Awaited<ReturnType<Operator["resolve"]>>[]> {
  const waiting = new Set((await operator.attention()).map(({ id }) => id));
  const sent: Awaited<ReturnType<Operator["resolve"]>>[] = [];
  for (const { address: from, heldReason } of addresses) {
    const id = `held:${from}`;
    if (heldReason !== "recovered" || !waiting.has(id)) continue;
    sent.push(await operator.resolve(id, { action: "refundTo", address }, by));
  }
  return sent;
}

/** By their names. */
export const OPERATOR_COMMANDS: Readonly<Record<string, Command>> = {
  ...{ attention, resolve, approve, pause, resume, paused },
  ...{ limits, suspend, restore, audit, recover },
};
