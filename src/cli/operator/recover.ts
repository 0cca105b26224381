/** `recover`: derives deposit addresses again from the ids of their orders, and sends on what lies there. */
import type { ActContext } from "../../payments/act-context.ts";
import type { Operator } from "../../payments/operator/operator.ts";
import { readRecoveryFile } from "../../payments/operator/recovery/journal-file.ts";
import type { Command } from "../print.ts";
import { readArguments } from "../read-arguments.ts";
import { recoveryPage, resolutionPage } from "./pages.ts";
import { ACTING_OPTIONS, actedBy, onlyArgument, withOperator } from "./with-operator.ts";

export const recover: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, { ...ACTING_OPTIONS, to: { type: "string" } });
  const file = onlyArgument("recover", "a file of ids", positionals);
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
