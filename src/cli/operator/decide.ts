/** `attention`, `resolve` and `approve`: lists matters that need a person, and carries out the person's decisions. */
import type { ResolveCommand } from "../../payments/operator/resolve/command.ts";
import type { Command } from "../print.ts";
import { oneOf, readArguments } from "../read-arguments.ts";
import { UsageError } from "../usage-error.ts";
import { attentionPage, resolutionPage } from "./pages.ts";
import {
  ACTING_OPTIONS,
  actedBy,
  noArgument,
  onlyArgument,
  SERVICE_OPTIONS,
  shown,
  withOperator,
} from "./with-operator.ts";

const ACTIONS = ["retry", "drop", "release", "refundTo", "writeOff", "settle"] as const;

export const attention: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, SERVICE_OPTIONS);
  noArgument("attention", positionals);
  await withOperator(values, async (operator) => {
    const matters = await operator.attention();
    print(shown(values.json, matters, attentionPage(matters)));
  });
};

export const resolve: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...ACTING_OPTIONS,
    action: { type: "string" },
    address: { type: "string" },
    signature: { type: "string" },
  });
  const id = onlyArgument("resolve", "the id of a matter", positionals);
  const command = resolveCommandOf(values);
  const by = actedBy(values);
  await withOperator(values, async (operator) => {
    const resolution = await operator.resolve(id, command, by);
    print(shown(values.json, resolution, resolutionPage(resolution)));
  });
};

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

export const approve: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, { ...ACTING_OPTIONS, address: { type: "string" } });
  const id = onlyArgument("approve", "the id of a matter", positionals);
  const { address } = values;
  if (address === undefined) throw new UsageError("approve expects the --address that gets the money");
  const by = actedBy(values);
  await withOperator(values, async (operator) => {
    const resolution = await operator.approve(id, { address }, by);
    print(shown(values.json, resolution, resolutionPage(resolution)));
  });
};
