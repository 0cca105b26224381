/** The operator's decisions on matters, deposit addresses and transactions, and where recovered money goes. */
import type { ResolveCommand } from "../../payments/operator/resolve/command.ts";
import { type Command, UsageError } from "../command.ts";
import { oneOf, onlyArgument, readArguments } from "../read-arguments.ts";
import {
  attentionPage,
  pursesPage,
  resolutionPage,
  releasedPage,
  returnPage,
  settledPage,
  settledPaymentPage,
  recoveryPage,
} from "./pages.ts";
import {
  ACTING_OPTIONS,
  actedBy,
  operatorCommand,
  SERVICE_OPTIONS,
  withOperator,
} from "./operator-command.ts";
import type { ActContext } from "../../payments/intake/rules.ts";
import type { Operator } from "../../payments/operator/operator.ts";
import { readRecoveryFile } from "../../payments/operator/recovery/journal.ts";

const ACTIONS = ["retry", "drop", "release", "refundTo", "writeOff", "settle"] as const;

export const attention = operatorCommand(
  { name: "attention", options: SERVICE_OPTIONS, wanted: () => null },
  async (operator) => {
    const matters = await operator.attention();
    return [matters, attentionPage(matters)];
  },
);

/** `purses`: what the service's own wallets hold, and how long it lasts. */
export const purses = operatorCommand(
  { name: "purses", options: SERVICE_OPTIONS, wanted: () => null },
  async (operator) => {
    const held = await operator.purses();
    return [held, pursesPage(held)];
  },
);

export const resolve = operatorCommand(
  {
    name: "resolve",
    takes: "the id of a matter",
    options: {
      ...ACTING_OPTIONS,
      action: { type: "string" },
      address: { type: "string" },
      signature: { type: "string" },
    },
    wanted: (values) => ({ command: resolveCommandOf(values), by: actedBy(values) }),
  },
  async (operator, { command, by }, id) => {
    const resolution = await operator.resolve(id, command, by);
    return [resolution, resolutionPage(resolution)];
  },
);

interface DecisionOptions {
  readonly action?: string | undefined;
  readonly address?: string | undefined;
  readonly signature?: string | undefined;
}

function resolveCommandOf({ action = "", address, signature }: DecisionOptions): ResolveCommand {
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

export const approve = operatorCommand(
  {
    name: "approve",
    takes: "the id of a matter",
    options: { ...ACTING_OPTIONS, address: { type: "string" } },
    wanted({ address, ...values }) {
      if (address === undefined) throw new UsageError("approve expects the --address that gets the money");
      return { address, by: actedBy(values) };
    },
  },
  async (operator, { address, by }, id) => {
    const resolution = await operator.approve(id, { address }, by);
    return [resolution, resolutionPage(resolution)];
  },
);

/** `release`: an operator allows a deposit address to be settled, or foreign tokens to leave it. */
export const release = operatorCommand(
  {
    name: "release",
    takes: "the id of a transaction",
    options: { ...ACTING_OPTIONS, mint: { type: "string" }, to: { type: "string" } },
    wanted({ mint, to, ...values }) {
      if (to !== undefined && mint === undefined) {
        throw new UsageError("--to expects the --mint that goes there");
      }
      return { mint, to, by: actedBy(values) };
    },
  },
  async (operator, { mint, to, by }, transactionId) => {
    if (mint === undefined) {
      const released = await operator.releaseDeposit(transactionId, by);
      return [released, releasedPage(released)];
    }
    const ordered = await operator.returnTokens(transactionId, { mint, to }, by);
    return [ordered, returnPage(ordered)];
  },
);

/** `settle`: the operator's word under which signature a transaction landed; the evidence is read from the chain. */
export const settle = operatorCommand(
  {
    name: "settle",
    takes: "the id of a transaction",
    options: { ...ACTING_OPTIONS, signature: { type: "string" } },
    wanted({ signature, ...values }) {
      if (signature === undefined) throw new UsageError("settle expects the --signature that has landed");
      return { signature, by: actedBy(values) };
    },
  },
  async (operator, { signature, by }, transactionId) => {
    const settled = await operator.settleTransaction({ transactionId, signature }, by);
    if (!("landing" in settled)) return [settled, settledPaymentPage(settled)];
    const { landing, ...rest } = settled;
    return [{ ...rest, landing: { ...landing, fee: String(landing.fee) } }, settledPage(settled)];
  },
);

/** `recover`: derives deposit addresses again from the ids of their orders, and sends on what lies there. */
export const recover: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, { ...ACTING_OPTIONS, to: { type: "string" } });
  const file = onlyArgument("recover", ["a file of ids"], positionals);
  const by = actedBy(values);
  const { to } = values;
  const ids = await readRecoveryFile(file).catch((cause: unknown) => {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    throw new Error(`${file} cannot be read (${code}): name a file with one id in a line`, { cause });
  });
  await withOperator(values, async (operator) => {
    const addresses = await operator.recover(ids, by);
    if (!values.json) print(recoveryPage(addresses));
    const sent = to === undefined ? [] : await sendOn(operator, addresses, { to, by });
    if (values.json) print(JSON.stringify({ addresses, sent }));
    else for (const resolution of sent) print(resolutionPage(resolution));
  });
};

type Recovered = Awaited<ReturnType<Operator["recover"]>>;
type Resolution = Awaited<ReturnType<Operator["resolve"]>>;

/** The receiver of recovered money, and the acting person. */
interface Forwarding {
  readonly to: string;
  readonly by: ActContext;
}

/** Sends what is certain to one address; an address that has paid already waits for a decision of its own. */
async function sendOn(
  operator: Operator,
  addresses: Recovered,
  { to, by }: Forwarding,
): Promise<Resolution[]> {
  const waiting = new Set((await operator.attention()).map(({ id }) => id));
  const sent: Resolution[] = [];
  for (const { address, heldReason } of addresses) {
    const id = `held:${address}`;
    if (heldReason !== "recovered" || !waiting.has(id)) continue;
    sent.push(await operator.resolve(id, { action: "refundTo", address: to }, by));
  }
  return sent;
}
