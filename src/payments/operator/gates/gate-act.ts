/** Acts on the rules of a gate: a row each, carried out by one runner. */
import type { z } from "zod";
import { type ActName, readActContext, readCommand } from "../../frame/acts/act.ts";
import type { ActContext, IntakeRules } from "../../frame/intake/rules.ts";
import type { GateRuleStorage } from "./gate-rule-storage.ts";

/** An act that was decided, up to the rules as they stand. */
export interface GateChange<Told> {
  /** The account whose rules change; null for those of the service. */
  readonly accountId: string | null;
  /** Throws `OperatorRefused` where the rules do not take the act. Called again when another operator was faster. */
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

/** Carries an act out: what was given and who acts are read first, and the change is one commit with its audit row. */
export async function carryOut<Parts extends { readonly gates: GateRuleStorage }, Given, Told>(
  { act, given: schema, decide, what }: GateAct<Parts, Given, Told>,
  parts: Parts,
  [given, by]: readonly [given: Given, by: ActContext],
): Promise<Told> {
  const read = readCommand(schema, given);
  const acted = readActContext(by);
  const { accountId, change, told } = await decide(parts, read, acted);
  await parts.gates.change(accountId, change, { by: acted, act, what: what(read) });
  return told;
}
