/** Makes `LedgerUnavailable`: which endpoint failed how. */
import { LedgerUnavailable, type EndpointTrouble } from "../ledger/ledger.ts";
import type { EndpointFailure } from "./endpoint-failure.ts";

/** The trouble of an endpoint; an endpoint without a failure was not asked, because it wants to be left alone. */
export function troubleOf(
  { name }: { readonly name: string },
  failure: EndpointFailure | undefined,
): EndpointTrouble {
  return {
    endpoint: name,
    kind: failure?.kind ?? "resting",
    code: failure?.facts.code ?? null,
    message: failure?.message ?? "asked to be left alone",
  };
}

/** Has no `cause`: messages of transports and providers quote URLs, and URLs carry keys. */
export function unavailable(closed: AbortSignal, troubles: readonly EndpointTrouble[]): LedgerUnavailable {
  if (closed.aborted) return new LedgerUnavailable("the ledger is closed");
  const reasons = troubles.map(({ endpoint, message }) => `${endpoint}: ${message}`);
  return new LedgerUnavailable(`no Solana node gave a usable answer (${reasons.join("; ")})`, troubles);
}

/** Some answered, but not as many as must agree. */
export function tooFewWitnesses(
  { witnesses, closed }: { readonly witnesses: number; readonly closed: AbortSignal },
  answered: number,
  errors: readonly unknown[],
): LedgerUnavailable {
  const { message, troubles } = allUnavailable(closed, errors);
  if (closed.aborted || answered === 0) return new LedgerUnavailable(message, troubles);
  const reasons = troubles.map((trouble) => `${trouble.endpoint}: ${trouble.message}`).join("; ");
  return new LedgerUnavailable(
    `${answered} of the ${witnesses} Solana nodes that must agree answered (${reasons})`,
    troubles,
  );
}

/** Combines the errors of endpoints that were asked separately. */
export function allUnavailable(closed: AbortSignal, errors: readonly unknown[]): LedgerUnavailable {
  const troubles = errors.flatMap((error) => (error instanceof LedgerUnavailable ? error.troubles : []));
  return unavailable(closed, troubles);
}
