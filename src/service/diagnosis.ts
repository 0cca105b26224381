/** A diagnosis of a service for a person, and what its options say of real money: no secret is told, nothing changes. */
import { checkEgress } from "./diagnosis/check-egress.ts";
import { checkLive, type LiveFacts } from "./diagnosis/check-live.ts";
import {
  checkChain,
  checkClock,
  checkEndpoints,
  checkMasterSecrets,
  checkPurses,
  checkWitnesses,
  checkWork,
  readPurses,
} from "./diagnosis/check-service.ts";
import { factsOf, type DiagnosedFacts } from "./diagnosis/facts.ts";
import type { DiagnosisFinding } from "./diagnosis/finding.ts";
import type { Health } from "./read-health.ts";
import type { ServiceParts } from "./service-parts.ts";

/** Facts of a service, with the faults that they show. */
export interface Diagnosis extends DiagnosedFacts {
  /** A finding for each check, in a fixed order. */
  readonly findings: readonly DiagnosisFinding[];
}

/** Where to look besides, and for what. */
export interface DiagnosisQuery {
  /** The folder of the database, whose small files are read for a master secret. Default: no folder is looked at. */
  readonly besides?: string;
  /** The database, as a person has named it: the findings are also of what matters once real money moves. */
  readonly live?: { readonly database: LiveFacts["database"] };
}

/** Rejects where the storage fails between two reads. */
export async function diagnose(
  parts: ServiceParts,
  health: () => Promise<Health>,
  { besides, live }: DiagnosisQuery,
): Promise<Diagnosis> {
  const state = await health();
  const facts = await factsOf(parts, { binding: state.storage === "ok", besides });
  const work = checkWork(state);
  if (state.storage !== "ok") return { ...facts, findings: work };
  const purses = await readPurses(parts.operator);
  const limits = live === undefined ? [] : await parts.operator.limits();
  const findings = [
    checkChain(facts),
    ...checkEndpoints(facts),
    checkWitnesses(state),
    checkClock(facts),
    ...checkMasterSecrets(facts),
    ...checkPurses(purses),
    ...work,
    checkEgress(facts),
    ...(live === undefined
      ? []
      : checkLive({ ...facts, ...live, witnesses: state.witnesses, purses, limits })),
  ];
  return { ...facts, findings };
}
