/** Checks that enough endpoints answer to believe final facts. */
import type { Health } from "../../service/read-health.ts";
import { fine, warning, wrong, type Finding } from "./finding.ts";

export function checkWitnesses({ witnesses }: Pick<Health, "witnesses">): Finding {
  if (witnesses === null) {
    return wrong("witnesses", { found: "cannot be counted", todo: "no endpoint answers: see the endpoints" });
  }
  const { needed, answering, loweredUntil } = witnesses;
  const found = `${answering} answer, ${needed} must agree`;
  if (answering < needed) {
    return wrong("witnesses", {
      found,
      todo: "nothing completes or fails meanwhile: bring endpoints back, or see `paystate witnesses --lower`",
    });
  }
  if (loweredUntil === undefined) return fine("witnesses", found);
  return warning("witnesses", {
    found: `${found}, lowered until ${loweredUntil}`,
    todo: "end that with `paystate witnesses --restore` once the endpoints are back",
  });
}
