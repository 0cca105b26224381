/** `audit`, `endpoint` and `witnesses`: what was done, and which endpoints are believed. */
import { UsageError } from "../command.ts";
import { wholeNumber } from "../read-arguments.ts";
import { auditPage } from "./pages.ts";
import { ACTING_OPTIONS, actedBy, operatorCommand, SERVICE_OPTIONS } from "./operator-command.ts";

const LIMITS = { least: 1, most: 1_000 };

/** `audit`: prints the audit log. */
export const audit = operatorCommand(
  {
    name: "audit",
    options: {
      ...SERVICE_OPTIONS,
      after: { type: "string" },
      limit: { type: "string", default: "100" },
    },
    wanted: ({ after, limit }) => ({ after, limit: wholeNumber("--limit", limit, LIMITS) }),
  },
  async (operator, wanted) => {
    const entries = await operator.auditLog(wanted);
    return [entries, auditPage(entries)];
  },
);

const MINUTES = { least: 1, most: 24 * 60 };

/** `endpoint`: takes an endpoint out of service for some minutes, or ends that. */
export const endpoint = operatorCommand(
  {
    name: "endpoint",
    options: {
      ...ACTING_OPTIONS,
      suspend: { type: "string" },
      minutes: { type: "string" },
      restore: { type: "string" },
    },
    wanted(values) {
      const { suspend: name, minutes, restore: restored } = values;
      const by = actedBy(values);
      if (restored !== undefined && name === undefined && minutes === undefined) return { by, restored };
      if (restored !== undefined || name === undefined || minutes === undefined) {
        throw new UsageError("expected --suspend NAME with --minutes MINUTES, or --restore NAME");
      }
      return { by, suspended: { endpoint: name, minutes: wholeNumber("--minutes", minutes, MINUTES) } };
    },
  },
  async (operator, { by, restored, suspended }) => {
    if (suspended === undefined) {
      await operator.restoreEndpoint(restored, by);
      return [{ restored }, `${restored} is in service again.`];
    }
    const entry = await operator.suspendEndpoint(suspended, by);
    return [entry, `Until ${entry.until} ${entry.endpoint} is not asked. It ends by itself.`];
  },
);

const WITNESSES = { least: 1, most: 100 };

/** `witnesses`: lowers for some minutes how many endpoints must agree, or ends that. */
export const witnesses = operatorCommand(
  {
    name: "witnesses",
    options: {
      ...ACTING_OPTIONS,
      lower: { type: "string" },
      minutes: { type: "string" },
      restore: { type: "boolean", default: false },
    },
    wanted(values) {
      const { lower, minutes, restore: isRestored } = values;
      if ((lower === undefined) !== (minutes === undefined) || (lower === undefined) !== isRestored) {
        throw new UsageError("expected --lower NUMBER with --minutes MINUTES, or --restore");
      }
      const by = actedBy(values);
      if (lower === undefined || minutes === undefined) return { by, lowered: null };
      const lowered = {
        witnesses: wholeNumber("--lower", lower, WITNESSES),
        minutes: wholeNumber("--minutes", minutes, MINUTES),
      };
      return { by, lowered };
    },
  },
  async (operator, { by, lowered }) => {
    if (lowered === null) {
      await operator.restoreWitnesses(by);
      return [{ restored: true }, "The ledger's own number of witnesses holds again."];
    }
    const entry = await operator.lowerWitnesses(lowered, by);
    const said = `Until ${entry.until} the word of ${entry.witnesses} is enough for what is final. It ends by itself.`;
    return [entry, said];
  },
);
