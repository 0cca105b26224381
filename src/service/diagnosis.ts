/** A diagnosis of a service for a person: read at once, without changing anything. */
import type { EndpointStatus } from "../ledger/ledger.ts";
import { readBinding, type DatabaseBinding } from "../payments/secrets/bind-database.ts";
import { proxyTrouble } from "../payments/webhooks/sending/proxy-tunnel.ts";
import type { Clock } from "../runtime.ts";
import type { ServiceParts } from "./service-parts.ts";
import { settingsOf, type ServiceSettings } from "./service-settings.ts";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { MasterSecret } from "../payments/secrets/secret-box.ts";

/** The egress proxy of webhooks. */
export interface EgressStatus {
  /** Host and port, without credentials. */
  readonly proxy: string;
  /** The reason why the proxy takes no connection; null for a proxy that takes connections. */
  readonly trouble: string | null;
}

/** The binding of the database, the status of each endpoint, and the way out for webhooks. */
export interface Diagnosis extends DatabaseBinding {
  /** Endpoints in the order configured. */
  readonly endpoints: readonly EndpointStatus[];
  /** Null where webhooks leave without a proxy. */
  readonly egress: EgressStatus | null;
  /** What matters once real money moves. */
  readonly settings: ServiceSettings;
  /** The name of a file beside the database that holds a master secret; null where none was found. */
  readonly secretBeside: string | null;
}

/** Where to look besides. */
export interface DiagnosisQuery {
  /** The folder of the database, whose small files are read for a master secret. Default: no folder is looked at. */
  readonly besides?: string;
}

/** Rejects when the storage cannot be read. */
export async function diagnose(parts: ServiceParts, { besides }: DiagnosisQuery): Promise<Diagnosis> {
  const { storage, clock } = parts.context;
  const { masterSecrets, ledger, webhooks } = parts.options;
  const [binding, endpoints, egress, settings, secretBeside] = await Promise.all([
    readBinding(storage, masterSecrets),
    ledger.endpoints(),
    egressOf(webhooks.proxy, clock),
    settingsOf(parts),
    besides === undefined ? null : fileWithSecret(besides, masterSecrets),
  ]);
  return { ...binding, endpoints, egress, settings, secretBeside };
}

async function egressOf(proxy: URL | undefined, clock: Clock): Promise<EgressStatus | null> {
  if (proxy === undefined) return null;
  return { proxy: proxy.host, trouble: await proxyTrouble(proxy, clock) };
}

/** Files of settings are small; a database is not read. */
const MOST_BYTES = 65_536;

/**
 * The first file of this folder that holds one of the secrets, as bytes or as one of the usual texts of bytes: a stolen
 * folder with database and secret in it opens every deposit address.
 */
async function fileWithSecret(folder: string, secrets: readonly MasterSecret[]): Promise<string | null> {
  const forms = secrets.flatMap(({ secret }) => formsOf(Buffer.from(secret)));
  for (const name of (await readdir(folder)).toSorted()) {
    const bytes = await smallFile(join(folder, name));
    if (bytes !== null && forms.some((form) => bytes.includes(form))) return name;
  }
  return null;
}

function formsOf(secret: Buffer): readonly Buffer[] {
  const hex = secret.toString("hex");
  const base64 = secret.toString("base64").replace(/=+$/, "");
  const texts = [hex, hex.toUpperCase(), base64, secret.toString("base64url"), secret.join(",")];
  return [secret, ...texts.map((text) => Buffer.from(text))];
}

/** Null for what is no file, is large, or may not be read. */
async function smallFile(path: string): Promise<Buffer | null> {
  try {
    const found = await stat(path);
    return found.isFile() && found.size <= MOST_BYTES ? await readFile(path) : null;
  } catch {
    return null;
  }
}
