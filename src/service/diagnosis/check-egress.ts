/** Checks of the way out for webhooks. */
// modules: webhooks
import type { DiagnosedFacts } from "./facts.ts";
import { fine, wrong, type DiagnosisFinding } from "./finding.ts";

/** Checks that webhooks can reach the internet. */
export function checkEgress({ egress }: Pick<DiagnosedFacts, "egress">): DiagnosisFinding {
  if (egress === null) return fine("webhook egress", "goes without a proxy");
  const { proxy, trouble } = egress;
  if (trouble === null) return fine("webhook egress", `the proxy ${proxy} takes connections`);
  return wrong("webhook egress", {
    found: `the proxy ${proxy} cannot be reached: ${trouble}`,
    todo: "no webhook is delivered meanwhile: start the proxy, or correct `webhooks.proxy`",
  });
}
