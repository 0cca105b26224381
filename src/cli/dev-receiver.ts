/**
 * The webhook receiver of `paystate listen`: `paystate dev` makes the secret and the certificate, keeps both in its
 * folder and trusts the certificate.
 */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import type { Clock, Random } from "../core/runtime.ts";
import type { DevSetup } from "./dev-data.ts";
import { makeLoopbackCertificate } from "./loopback-certificate.ts";

/** A loopback certificate with its key, and the secret that its webhooks are signed with. */
export type DevReceiverSetup = NonNullable<DevSetup["receiver"]>;

const DAY_MS = 86_400_000;
const VALID_MS = 365 * DAY_MS;
// A service may run for weeks after its start, where this is looked at.
const RENEWED_BEFORE_MS = 30 * DAY_MS;
const SECRET_BYTES = 24;

/**
 * Keeps the secret of the stored receiver, so that a developer's code goes on working. Renews the certificate before it
 * ends.
 */
export function receiverFor(
  kept: DevReceiverSetup | undefined,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): DevReceiverSetup {
  const now = clock.now();
  if (kept !== undefined && endOf(kept) > now + RENEWED_BEFORE_MS) return kept;
  const secret = kept?.secret ?? `whsec_${Buffer.from(random.bytes(SECRET_BYTES)).toString("base64")}`;
  return { secret, ...makeLoopbackCertificate({ from: now - DAY_MS, until: now + VALID_MS }, random) };
}

function endOf({ certificate }: DevReceiverSetup): number {
  return Date.parse(new X509Certificate(certificate).validTo);
}

/**
 * Certificates that deliveries of a development service trust: its own receiver, Node's authorities and
 * NODE_EXTRA_CA_CERTS. All are listed because an explicit list replaces Node's defaults.
 */
export function trustedBy({ receiver }: DevSetup): readonly string[] {
  return [
    ...rootCertificates,
    ...extraCertificates(),
    ...(receiver === undefined ? [] : [receiver.certificate]),
  ];
}

/** Node has warned at its start where this file cannot be read. */
function extraCertificates(): readonly string[] {
  const file = process.env["NODE_EXTRA_CA_CERTS"] ?? "";
  try {
    const text = file === "" ? "" : readFileSync(file, "utf8");
    return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  } catch {
    return [];
  }
}
