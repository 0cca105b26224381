/** The operator's decisions on matters, orders and transactions, and orders that are brought back from a journal. */
import { access } from "node:fs/promises";
import type { ResolveCommand } from "../../payments/frame/acts/command.ts";
import { type Command, UsageError } from "../command.ts";
import { oneOf, onlyArgument, readArguments } from "../read-arguments.ts";
import { attentionPage, pursesPage, resolutionPage, settledPage, recoveryPage } from "./pages.ts";
import {
  ACTING_OPTIONS,
  actedBy,
  operatorCommand,
  SERVICE_OPTIONS,
  withOperator,
} from "./operator-command.ts";
import type { OrderLine } from "../../payments/private/recovery/journal.ts";
import { recoveryFile } from "../../payments/private/recovery/journal-file.ts";

/** What each action takes, and whether it must be given. */
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

const DETAILS: readonly Detail[] = ["signature", "chunk", "address", "asset", "mint"];

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
    takes: "the id of a matter or of a transaction",
    options: {
      ...ACTING_OPTIONS,
      action: { type: "string" },
      address: { type: "string" },
      asset: { type: "string" },
      chunk: { type: "string" },
      mint: { type: "string" },
      signature: { type: "string" },
    },
    wanted: (values) => ({ command: resolveCommandOf(values), by: actedBy(values) }),
  },
  async (operator, { command, by }, id) => {
    const resolution = await operator.resolve(id, command, by);
    return [resolution, resolutionPage(resolution)];
  },
);

type DecisionOptions = { readonly [D in Detail | "action"]?: string | undefined };

function resolveCommandOf({ action = "", ...given }: DecisionOptions): ResolveCommand {
  const names = Object.keys(ACTIONS) as readonly (keyof typeof ACTIONS)[];
  oneOf("--action", action, names);
  const takes: Partial<Record<Detail, "needed" | "optional">> = ACTIONS[action as keyof typeof ACTIONS];
  for (const detail of DETAILS) {
    if (given[detail] === undefined && takes[detail] === "needed") {
      throw new UsageError(`--action ${action} expects --${detail}`);
    }
    if (given[detail] !== undefined && takes[detail] === undefined) {
      const taking = names.filter((name) => detail in ACTIONS[name]);
      throw new UsageError(`--${detail} expects --action ${taking.join(" or ")}`);
    }
  }
  const details = DETAILS.flatMap((detail) => {
    const value = given[detail];
    return value === undefined ? [] : [[detail, detail === "chunk" ? Number(value) : value] as const];
  });
  // The service checks the rest of it, as for every caller.
  return { action, ...Object.fromEntries(details) } as ResolveCommand;
}

export const approve = operatorCommand(
  {
    name: "approve",
    takes: "the id of a matter or of a transaction",
    options: { ...ACTING_OPTIONS, address: { type: "string" } },
    wanted: ({ address, ...values }) => ({ address, by: actedBy(values) }),
  },
  async (operator, { address, by }, id) => {
    const resolution = await operator.approve(id, { address }, by);
    return [resolution, resolutionPage(resolution)];
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
    const { landing, ...rest } = settled;
    return [{ ...rest, landing: { ...landing, fee: String(landing.fee) } }, settledPage(settled)];
  },
);

/** `recover`: brings back the orders of a journal that the database does not know. */
export const recover: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, ACTING_OPTIONS);
  const file = onlyArgument("recover", ["a recovery journal"], positionals);
  const by = actedBy(values);
  const orders = await ordersIn(file).catch((cause: unknown) => {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    throw new Error(`${file} cannot be read (${code}): name the file of a recovery journal`, { cause });
  });
  await withOperator(values, async (operator) => {
    const addresses = await operator.recover(orders, by);
    print(values.json ? JSON.stringify({ addresses }) : recoveryPage(addresses));
  });
};

async function ordersIn(file: string): Promise<readonly OrderLine[]> {
  await access(file);
  const orders: OrderLine[] = [];
  for await (const line of recoveryFile(file).read()) if ("layout" in line) orders.push(line);
  return orders;
}
