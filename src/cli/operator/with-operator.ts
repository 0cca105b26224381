/**
 * Shared parts of the operator's commands: options of the service and of the acting person, and the printing of
 * answers.
 */
import type { ActContext } from "../../payments/intake/rules.ts";
import type { Operator } from "../../payments/operator/operator.ts";
import { openService, type ServiceOptions } from "../open-service.ts";
import { UsageError } from "../command.ts";

/** The options of every one of them. */
export const SERVICE_OPTIONS = {
  data: { type: "string" },
  service: { type: "string" },
  json: { type: "boolean", default: false },
  debug: { type: "boolean", default: false },
} as const;

/** The options of those that change anything. */
export const ACTING_OPTIONS = {
  ...SERVICE_OPTIONS,
  actor: { type: "string" },
  reason: { type: "string" },
} as const;

/** Opens the named service, lets `act` use its operator's part, and closes it. */
export async function withOperator(
  place: ServiceOptions,
  act: (operator: Operator) => Promise<void>,
): Promise<void> {
  const { service, close } = await openService(place);
  if (service.operator === undefined) {
    throw new Error("the exported `service` has no operator: expected what createPaymentService returns");
  }
  await act(service.operator);
  await close();
}

/** Throws `UsageError` when one of the two is missing. */
export function actedBy({
  actor,
  reason,
}: Partial<Record<keyof ActContext, string | undefined>>): ActContext {
  if (actor === undefined) throw new UsageError("expected --actor NAME: who acts stands in the audit log");
  if (reason === undefined) throw new UsageError("expected --reason TEXT: why stands in the audit log");
  return { actor, reason };
}

/** Formats an answer: one line of JSON, or the page for people. */
export function shown(json: boolean, value: unknown, page: string): string {
  return json ? JSON.stringify(value) : page;
}
