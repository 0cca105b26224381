/** Acts on the rules of a gate, as rows of the operator's table. */
import type { z } from "zod";
import type { ActName } from "../../frame/acts/act.ts";
import type { ActRow } from "../../frame/acts/act-row.ts";
import type { ActContext, IntakeRules } from "../../frame/intake/rules.ts";
import type { GateRuleStorage } from "./gate-rule-storage.ts";

/** An act that was decided, up to the rules as they stand. */
export interface GateChange<Told> {
  /** The account whose rules change; null for those of the service. */
  readonly accountId: string | null;
  /** Throws `OperatorRefused` where the rules do not take the act. */
  readonly change: (rules: IntakeRules) => IntakeRules;
  readonly told: Told;
}

/** An act, as its table declares it. */
export interface GateAct<Parts, Given, Told> {
  readonly act: ActName;
  /** The schema of what the operator gives. */
  readonly given: z.ZodType<Given>;
  /** Reads what the act depends on besides the rules. Throws `OperatorRefused` for what it does not take. */
  readonly decide: (
    parts: Parts,
    given: Given,
    by: ActContext,
  ) => GateChange<Told> | Promise<GateChange<Told>>;
  /** Its details in the audit log. */
  readonly what: (given: Given) => Readonly<Record<string, unknown>>;
}

/** The most rounds of a change: of two operators who change one gate at once, one has to try again. */
const MAX_ROUNDS = 20;

/** The act as a row: its write expects the version of the rules that it was decided on. */
export function gateRow<Parts extends { readonly gates: GateRuleStorage }, Given, Told>(
  { act, given, decide, what }: GateAct<Parts, Given, Told>,
  parts: Parts,
): ActRow<Given, null, Told> {
  return {
    given,
    rounds: MAX_ROUNDS,
    decision: () => null,
    subject: async () => null,
    async decide({ given: read, by }) {
      const { accountId, change, told } = await decide(parts, read, by);
      const { gate, write } = await parts.gates.changed(accountId, change);
      return { act, what: what(read), subject: `the gate "${gate}"`, writes: [write], told: () => told };
    },
  };
}
