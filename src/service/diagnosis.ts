/** A diagnosis of a service for a person: read at once, without changing anything. */
import type { EndpointStatus } from "../ledger/ledger.ts";
import { readBinding, type DatabaseBinding } from "../payments/secrets/bind-database.ts";
import { proxyTrouble } from "../payments/webhooks/sending/reach-proxy.ts";
import type { Clock } from "../runtime.ts";
import type { ServiceParts } from "./service-parts.ts";

/** The egress proxy of webhooks. */
export interface EgressStatus {
  /** Host and port, without credentials. */
  readonly proxy: string;
  /** The reason why the proxy takes no connection; null for a proxy that takes connections. */
  readonly trouble: string | null;
}

/** The binding of the database, the status of each endpoint, and the way out for webhooks. */
export interface Diagnosis extends DatabaseBinding {
  /** Endpoints in the order configured. */
  readonly endpoints: readonly EndpointStatus[];
  /** Null where webhooks leave without a proxy. */
  readonly egress: EgressStatus | null;
}

/** Rejects when the storage cannot be read. */
export async function diagnose({ context, options }: ServiceParts): Promise<Diagnosis> {
  const { storage, clock } = context;
  const [binding, endpoints, egress] = await Promise.all([
    readBinding(storage, options.masterSecrets),
    options.ledger.endpoints(),
    egressOf(options.webhooks.proxy, clock),
  ]);
  return { ...binding, endpoints, egress };
}

async function egressOf(proxy: URL | undefined, clock: Clock): Promise<EgressStatus | null> {
  if (proxy === undefined) return null;
  return { proxy: proxy.host, trouble: await proxyTrouble(proxy, clock) };
}
