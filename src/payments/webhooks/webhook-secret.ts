/** Seals a webhook's secret, opens it for a delivery, and keeps the replaced one in use for a while. */
import type { WebhookRecord } from "./tables.ts";
import type { SealScope, SecretBox } from "../frame/secrets/secret-box.ts";
import type { SignatureInput } from "./sending/signature.ts";

type SecretFields = Pick<WebhookRecord, "sealedSecret" | "previousSealedSecret" | "previousUntil">;

/** A webhook whose deliveries are not signed. */
export const NO_SECRET: SecretFields = {
  sealedSecret: null,
  previousSealedSecret: null,
  previousUntil: null,
};

type Owned = Pick<WebhookRecord, "id" | "accountId">;

function placeOf({ id, accountId }: Owned): SealScope {
  return { table: "webhooks", row: id, owner: accountId };
}

export function sealedSecret(sealing: SecretBox, webhook: Owned, secret: string): string {
  return sealing.seal(secret, placeOf(webhook));
}

export function secretsOf(
  sealing: SecretBox,
  webhook: Owned & SecretFields,
  now: number,
): Pick<SignatureInput, "secret" | "previousSecret"> {
  const open = (sealed: string | null): string | null =>
    sealed === null ? null : sealing.open(sealed, placeOf(webhook));
  const isReplacing = webhook.previousUntil !== null && now < webhook.previousUntil;
  return {
    secret: open(webhook.sealedSecret),
    previousSecret: isReplacing ? open(webhook.previousSealedSecret) : null,
  };
}

/**
 * The fields once `secret` has taken the place of the one before, which stays good until `previousUntil`. Given the
 * secret that it has already nothing changes: a request that is repeated must not end the overlap of the first.
 */
export function replacedSecret(
  sealing: SecretBox,
  webhook: Owned & SecretFields,
  { secret, previousUntil }: { readonly secret: string | null; readonly previousUntil: number },
): Partial<SecretFields> {
  if (secret === null) return NO_SECRET;
  const { sealedSecret: sealed } = webhook;
  if (sealed !== null && sealing.open(sealed, placeOf(webhook)) === secret) return {};
  return {
    sealedSecret: sealedSecret(sealing, webhook, secret),
    previousSealedSecret: sealed,
    previousUntil: sealed === null ? null : previousUntil,
  };
}
