/** `audit`: prints the audit log. */
import type { Command } from "../print.ts";
import { readArguments, wholeNumber } from "../read-arguments.ts";
import { auditPage } from "./pages.ts";
import { noArgument, SERVICE_OPTIONS, shown, withOperator } from "./with-operator.ts";

const LIMITS = { least: 1, most: 1_000 };

export const audit: Command = async (args, print) => {
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
