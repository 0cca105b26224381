/** Checks that the database belongs to the chain that the endpoints serve. */
import type { Diagnosis } from "../../service/diagnosis.ts";
import { fine, warning, wrong, type Finding } from "./finding.ts";

export function checkChain({ genesisHash, endpoints }: Diagnosis): Finding {
  const told = [...new Set(endpoints.map((each) => each.genesisHash).filter((hash) => hash !== null))];
  const [chain, another] = told;
  if (chain === undefined) {
    const found = genesisHash === null ? "no endpoint tells one" : `the database belongs to ${genesisHash}`;
    return wrong("chain", { found, todo: "no endpoint answers for its chain: see the endpoints" });
  }
  if (genesisHash === null) {
    return warning("chain", {
      found: `the database belongs to no chain yet, the endpoints serve ${told.join(" and ")}`,
      todo: "the first start binds it: make sure that this is the chain you mean",
    });
  }
  if (another === undefined && chain === genesisHash) {
    return fine("chain", `database and endpoints agree on ${genesisHash}`);
  }
  return wrong("chain", {
    found: `the database belongs to ${genesisHash}, the endpoints serve ${told.join(" and ")}`,
    todo: "use the endpoints of the database's chain, or another database for this chain",
  });
}
