/** Whether the way out for webhooks is open. */
import type { Clock } from "../../core/runtime.ts";
import { proxyTrouble } from "./sending/proxy-tunnel.ts";

/** The part of a diagnosis that webhooks add. */
export interface WebhookDiagnosis {
  /** The egress proxy of webhooks; null where webhooks leave without a proxy. */
  readonly egress: {
    /** Host and port, without credentials. */
    readonly proxy: string;
    /** The reason why the proxy takes no connection; null for a proxy that takes connections. */
    readonly trouble: string | null;
  } | null;
}

export async function egressOf(proxy: URL | undefined, clock: Clock): Promise<WebhookDiagnosis["egress"]> {
  if (proxy === undefined) return null;
  return { proxy: proxy.host, trouble: await proxyTrouble(proxy, clock) };
}
