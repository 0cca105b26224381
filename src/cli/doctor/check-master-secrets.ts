/** Checks that the given master secrets are the secrets that the database was written with. No secret is shown. */
import type { Diagnosis } from "../../service/diagnosis.ts";
import type { MasterSecretStatus } from "../../payments/secrets/bind-database.ts";
import { fine, warning, wrong, type Finding } from "./finding.ts";

/** A finding for each version of the master secret. */
export function checkMasterSecrets({ masterSecrets }: Diagnosis): readonly Finding[] {
  return masterSecrets.map(checkMasterSecret);
}

function checkMasterSecret({ version, standing }: MasterSecretStatus): Finding {
  const check = `master secret ${version}`;
  switch (standing) {
    case "same":
      return fine(check, "is the one that the database was written with");
    case "unused":
      return warning(check, {
        found: "is new to this database",
        todo: "the next start writes its check value down: keep the secret for as long as the database",
      });
    case "another":
      return wrong(check, {
        found: "is not the one that the database was written with",
        todo: "restore that one, or give the new one under a new version",
      });
  }
}
