/** Checks of the way out for webhooks. */
// modules: webhooks
import type { Diagnosis } from "../../service/diagnosis.ts";
import { fine, wrong, type Finding } from "./finding.ts";

/** Checks that webhooks can reach the internet. */
export function checkEgress({ egress }: Pick<Diagnosis, "egress">): Finding {
  if (egress === null) return fine("webhook egress", "goes without a proxy");
  const { proxy, trouble } = egress;
  if (trouble === null) return fine("webhook egress", `the proxy ${proxy} takes connections`);
  return wrong("webhook egress", {
    found: `the proxy ${proxy} cannot be reached: ${trouble}`,
    todo: "no webhook is delivered meanwhile: start the proxy, or correct `webhooks.proxy`",
  });
}
