/** Master secrets that lie in a file beside the database. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { MasterSecret } from "../../payments/frame/secrets/secret-box.ts";

/** Files of settings are small; a database is not read. */
const MOST_BYTES = 65_536;

/**
 * The first file of this folder that holds one of the secrets, as bytes or as one of the usual texts of bytes: a stolen
 * folder with database and secret in it opens every deposit address.
 */
export async function fileWithSecret(
  folder: string,
  secrets: readonly MasterSecret[],
): Promise<string | null> {
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
