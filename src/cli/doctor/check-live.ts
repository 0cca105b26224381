/** Checks before a service goes live: whether its witnesses are of different providers. */
import { isIP } from "node:net";
import type { Diagnosis } from "../../service/diagnosis.ts";
import { fine, warning, type Finding } from "./finding.ts";

/** Checks that no two witnesses are of one provider: one provider behind two URLs is one witness. */
export function checkProviders({ endpoints }: Pick<Diagnosis, "endpoints">): Finding {
  const byProvider = new Map<string, string[]>();
  for (const { endpoint, roles } of endpoints) {
    if (!roles.includes("witness")) continue;
    const provider = providerOf(endpoint);
    byProvider.set(provider, [...(byProvider.get(provider) ?? []), endpoint]);
  }
  const shared = [...byProvider].filter(([, witnesses]) => witnesses.length > 1);
  if (shared.length === 0) return fine("providers", "each witness has a provider of its own");
  const found = shared.map(([provider, witnesses]) => `${witnesses.join(" and ")} are of ${provider}`);
  return warning("providers", {
    found: found.join("; "),
    todo: 'one provider is one witness: take an endpoint of another one, or leave "witness" out of its roles',
  });
}

/** The end of a host's name that a provider has registered, as far as its last two words tell. */
function providerOf(endpoint: string): string {
  const host = endpoint.replace(/#\d+$/, "");
  return isIP(host.replace(/^\[|\]$/g, "")) > 0 ? host : host.split(".").slice(-2).join(".");
}
