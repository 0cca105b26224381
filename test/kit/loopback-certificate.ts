/** Issues TLS certificates for the loopback addresses, for tests and demonstrations. */
import { createCA, createCert } from "mkcert";

/** A certificate for localhost, 127.0.0.1 and ::1, all in PEM. */
export interface LoopbackCertificate {
  /** The authority that a client has to trust. Its private key is thrown away. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Long enough for a demonstration left running, short enough to be worthless when found. */
const VALID_DAYS = 7;

/** Makes a fresh authority and a certificate signed by it. */
export async function issueLoopbackCertificate(): Promise<LoopbackCertificate> {
  const authority = await createCA({
    organization: "paystate loopback",
    countryCode: "XX",
    state: "none",
    locality: "localhost",
    validity: VALID_DAYS,
  });
  const leaf = await createCert({
    ca: authority,
    domains: ["localhost", "127.0.0.1", "::1"],
    validity: VALID_DAYS,
  });
  return { ca: authority.cert, ...leaf };
}

let shared: Promise<LoopbackCertificate> | null = null;

/** One certificate for all receivers of this process: to make the keys of one takes longer than most tests. */
export function sharedCertificate(): Promise<LoopbackCertificate> {
  return (shared ??= issueLoopbackCertificate());
}
