/** The arguments of `paystate trigger`. */
import { end } from "../end.ts";
import type { Command } from "../print.ts";
import { readArguments, WHOSE } from "../read-arguments.ts";
import { UsageError } from "../usage-error.ts";

export const trigger: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...WHOSE,
    to: { type: "string" },
    secret: { type: "string" },
    webhook: { type: "string" },
    account: { type: "string" },
  });
  const [name, more] = positionals;
  if (name === undefined) throw new UsageError("trigger expects an event");
  if (more !== undefined) throw new UsageError(`trigger takes one event, and no "${more}"`);
  const { eventOf, targetOf, triggerAt, triggerWebhook } = await import("../trigger.ts");
  const event = eventOf(name);
  const { to, secret, webhook, account } = values;
  if ((to === undefined) === (webhook === undefined)) {
    throw new UsageError("expected either --to or --webhook");
  }
  if (to !== undefined) {
    const isTaken = await triggerAt(event, { url: targetOf("--to", to), secret: secret ?? null }, print);
    return end(isTaken ? 0 : 1);
  }
  if (secret !== undefined) throw new UsageError("--secret expects --to: a registered webhook has its own");
  if (account === undefined) throw new UsageError("--webhook expects the --account that it belongs to");
  const { openService } = await import("../open-service.ts");
  const { service, close } = await openService(values);
  const ids = { event, webhookId: webhook ?? "", accountId: account };
  const isTaken = await triggerWebhook(service, ids, print);
  await close();
  return end(isTaken ? 0 : 1);
};
