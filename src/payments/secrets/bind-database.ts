/** A database belongs to one chain and one line of master secrets; anything else stops the start. */
import { createHmac } from "node:crypto";
import type { PaymentStorage } from "../payment-storage.ts";
import type { MasterSecret } from "./sealing.ts";

/** The service must not run on this database as it is configured. The message says what to do. */
export class StartRefused extends Error {
  override readonly name = "StartRefused";
}

/**
 * Compares the chain with the one that this database belongs to, and binds nothing: a start that is refused for another
 * reason must leave a new database free for the chain that was meant. Throws `StartRefused`.
 */
export async function refuseOtherChain(
  storage: Pick<PaymentStorage, "fact">,
  genesisHash: string,
): Promise<void> {
  const bound = await storage.fact("genesisHash");
  if (bound !== null && bound !== genesisHash) throw otherChain(bound, genesisHash);
}

/**
 * Binds a new database to the chain's genesis hash and to each master secret's check value, or compares them with what
 * it is bound to. Throws `StartRefused`.
 */
export async function bindDatabase(
  storage: PaymentStorage,
  genesisHash: string,
  masterSecrets: readonly MasterSecret[],
): Promise<void> {
  const bound = await bind(storage, "genesisHash", genesisHash);
  if (bound !== genesisHash) throw otherChain(bound, genesisHash);
  for (const { version, secret } of masterSecrets) {
    const check = createHmac("sha256", secret).update(`paystate master secret ${version}`).digest("hex");
    if ((await bind(storage, `masterSecret:${version}`, check)) !== check) {
      throw new StartRefused(
        `masterSecrets: version ${version} is not the secret this database was written with: ` +
          "restore it, or add the new one under a new version",
      );
    }
  }
}

/** The value this fact has, which is the given one when it had none. */
async function bind(storage: PaymentStorage, id: string, value: string): Promise<string> {
  const known = await storage.fact(id);
  if (known !== null) return known;
  const [result] = await storage.commit([{ writes: [{ table: "facts", insert: { id, value } }] }]);
  // Refused: another process bound it between our two lines.
  return result?.ok === true ? value : ((await storage.fact(id)) ?? value);
}

function otherChain(bound: string, genesisHash: string): StartRefused {
  return new StartRefused(
    `this database belongs to the chain with genesis hash ${bound}, but the ledger answers for ${genesisHash}: ` +
      "use another database for this chain, or the endpoints of the other chain",
  );
}
