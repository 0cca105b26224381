/** How an operator's command is made: its options, what is wanted of the operator, and the printing of the answer. */
import type { ActContext } from "../../payments/frame/intake/rules.ts";
import type { Operator } from "../../service/open-operator.ts";
import { openService, type ServiceOptions } from "../open-service.ts";
import { type Command, UsageError, end } from "../command.ts";
import { noArgument, onlyArgument, type Options, type Parsed, readArguments } from "../read-arguments.ts";

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

/** What a command takes. */
interface Taken<O extends Options, Wanted> {
  readonly name: string;
  /** Its one argument, in words; without, it takes none. */
  readonly takes?: string;
  /** Those of `SERVICE_OPTIONS` among them. */
  readonly options: O & typeof SERVICE_OPTIONS;
  /** What the options ask for, checked before anything is opened. */
  readonly wanted: (values: Parsed<O>["values"]) => Wanted;
}

/** For programs, and as a page for people. */
type Answer = readonly [value: unknown, page: string];

/** A command that calls the operator's part of a service once, and prints the answer. */
export function operatorCommand<O extends Options, Wanted>(
  { name, takes, options, wanted: wantedBy }: Taken<O, Wanted>,
  act: (operator: Operator, wanted: Wanted, argument: string) => Promise<Answer>,
): Command {
  return async (args, print) => {
    const { values, positionals } = readArguments<O>(args, options);
    const argument = takes === undefined ? "" : onlyArgument(name, [takes], positionals);
    if (takes === undefined) noArgument(name, positionals);
    const wanted = wantedBy(values);
    const place = values as Parsed<typeof SERVICE_OPTIONS>["values"];
    await withOperator(place, async (operator) => {
      const [value, page] = await act(operator, wanted, argument);
      print(place.json ? JSON.stringify(value) : page);
    });
  };
}

/** Opens the named service, lets `act` use its operator's part, closes it, and ends the process. */
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
  await end(0);
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
