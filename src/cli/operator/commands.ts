/** The operator's commands by their names: each reads its arguments, calls `service.operator`, and prints the answer. */
import { type Command, UsageError } from "../command.ts";
import { limits, pause, paused, restore, resume, suspend } from "./admit.ts";
import { approve, attention, resolve, recover, release, settle } from "./decide.ts";
import { noArgument, readArguments, wholeNumber } from "../read-arguments.ts";
import { auditPage } from "./pages.ts";
import { SERVICE_OPTIONS, shown, withOperator, ACTING_OPTIONS, actedBy } from "./with-operator.ts";

const LIMITS = { least: 1, most: 1_000 };

/** `audit`: prints the audit log. */
const audit: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...SERVICE_OPTIONS,
    after: { type: "string" },
    limit: { type: "string", default: "100" },
  });
  noArgument("audit", positionals);
  const limit = wholeNumber("--limit", values.limit, LIMITS);
  await withOperator(values, async (operator) => {
    const entries = await operator.auditLog({ after: values.after, limit });
    print(shown(values.json, entries, auditPage(entries)));
  });
};

const MAX_MINUTES = 24 * 60;

/** `endpoint`: takes an endpoint out of service for some minutes, or ends that. */
const endpoint: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...ACTING_OPTIONS,
    suspend: { type: "string" },
    minutes: { type: "string" },
    restore: { type: "string" },
  });
  noArgument("endpoint", positionals);
  const { suspend: name, minutes, restore: restored } = values;
  const by = actedBy(values);
  if (restored !== undefined && name === undefined && minutes === undefined) {
    await withOperator(values, async (operator) => {
      await operator.restoreEndpoint(restored, by);
      print(shown(values.json, { restored }, `${restored} is in service again.`));
    });
    return;
  }
  if (restored !== undefined || name === undefined || minutes === undefined) {
    throw new UsageError("expected --suspend NAME with --minutes MINUTES, or --restore NAME");
  }
  const wanted = {
    endpoint: name,
    minutes: wholeNumber("--minutes", minutes, { least: 1, most: MAX_MINUTES }),
  };
  await withOperator(values, async (operator) => {
    const entry = await operator.suspendEndpoint(wanted, by);
    const said = `Until ${entry.until} ${entry.endpoint} is not asked. It ends by itself.`;
    print(shown(values.json, entry, said));
  });
};

const MAX_WITNESSES = 100;

/** `witnesses`: lowers for some minutes how many endpoints must agree, or ends that. */
const witnesses: Command = async (args, print) => {
  const { values, positionals } = readArguments(args, {
    ...ACTING_OPTIONS,
    lower: { type: "string" },
    minutes: { type: "string" },
    restore: { type: "boolean", default: false },
  });
  noArgument("witnesses", positionals);
  const { lower, minutes, restore: isRestored } = values;
  if ((lower === undefined) !== (minutes === undefined) || (lower === undefined) !== isRestored) {
    throw new UsageError("expected --lower NUMBER with --minutes MINUTES, or --restore");
  }
  const by = actedBy(values);
  if (lower === undefined || minutes === undefined) {
    await withOperator(values, async (operator) => {
      await operator.restoreWitnesses(by);
      print(shown(values.json, { restored: true }, "The ledger's own number of witnesses holds again."));
    });
    return;
  }
  const wanted = {
    witnesses: wholeNumber("--lower", lower, { least: 1, most: MAX_WITNESSES }),
    minutes: wholeNumber("--minutes", minutes, { least: 1, most: MAX_MINUTES }),
  };
  await withOperator(values, async (operator) => {
    const entry = await operator.lowerWitnesses(wanted, by);
    const said = `Until ${entry.until} the word of ${entry.witnesses} is enough for what is final. It ends by itself.`;
    print(shown(values.json, entry, said));
  });
};

export const OPERATOR_COMMANDS = {
  attention,
  resolve,
  approve,
  pause,
  resume,
  paused,
  limits,
  suspend,
  restore,
  witnesses,
  endpoint,
  audit,
  release,
  settle,
  recover,
} satisfies Readonly<Record<string, Command>>;
