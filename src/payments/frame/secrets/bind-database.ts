/** A database belongs to one chain and one line of master secrets; anything else stops the start. */
import { commitOne } from "../../../../storage/decided.ts";
import { createHmac } from "node:crypto";
import type { FrameStorage } from "../frame-storage.ts";
import type { MasterSecret } from "./secret-box.ts";

/** The service must not run on this database as it is configured. The message says what to do. */
export class StartRefused extends Error {
  override readonly name = "StartRefused";
}

/**
 * Compares the chain with the database's chain, and binds nothing: a start that is refused for another reason must
 * leave a new database free for the chain that was meant. Throws `StartRefused`.
 */
export async function refuseOtherChain(
  storage: Pick<FrameStorage, "fact">,
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
  storage: FrameStorage,
  genesisHash: string,
  masterSecrets: readonly MasterSecret[],
): Promise<void> {
  const bound = await bindFact(storage, "genesisHash", genesisHash);
  if (bound !== genesisHash) throw otherChain(bound, genesisHash);
  await bindSecrets(storage, masterSecrets);
}

/**
 * The part of `bindDatabase` that needs no chain: what is sealed before the chain has answered must not be sealed with
 * another secret. Throws `StartRefused`.
 */
export async function bindSecrets(
  storage: FrameStorage,
  masterSecrets: readonly MasterSecret[],
): Promise<void> {
  for (const master of masterSecrets) {
    const { version } = master;
    const check = checkValue(master);
    if ((await bindFact(storage, factOf(version), check)) !== check) {
      throw new StartRefused(
        `masterSecrets: version ${version} is not the secret this database was written with: ` +
          "restore it, or add the new one under a new version",
      );
    }
  }
}

/**
 * Whether a master secret is the secret that the database was written with. `unused`: nothing in the database was
 * written with this version yet.
 */
export interface MasterSecretStatus {
  readonly version: number;
  readonly standing: "same" | "another" | "unused";
}

/** The chain and the secrets that a database is bound to, compared with the given ones. */
export interface DatabaseBinding {
  /** Null before the first start. */
  readonly genesisHash: string | null;
  readonly masterSecrets: readonly MasterSecretStatus[];
}

/** Reads what `bindDatabase` would compare, and binds nothing. */
export async function readBinding(
  storage: Pick<FrameStorage, "fact">,
  masterSecrets: readonly MasterSecret[],
): Promise<DatabaseBinding> {
  const standings = masterSecrets.map(async (master): Promise<MasterSecretStatus> => {
    const known = await storage.fact(factOf(master.version));
    const isSame = known === checkValue(master);
    return { version: master.version, standing: known === null ? "unused" : isSame ? "same" : "another" };
  });
  return { genesisHash: await storage.fact("genesisHash"), masterSecrets: await Promise.all(standings) };
}

function factOf(version: number): string {
  return `masterSecret:${version}`;
}

function checkValue({ version, secret }: MasterSecret): string {
  return createHmac("sha256", secret).update(`paystate master secret ${version}`).digest("hex");
}

/** The stored value of a fact; stores the given value when the fact has none. */
export async function bindFact(storage: FrameStorage, id: string, value: string): Promise<string> {
  const known = await storage.fact(id);
  if (known !== null) return known;
  const result = await commitOne(storage, { writes: [{ table: "facts", insert: { id, value } }] });
  // Refused: another process bound it between our two lines.
  return result.ok ? value : ((await storage.fact(id)) ?? value);
}

function otherChain(bound: string, genesisHash: string): StartRefused {
  return new StartRefused(
    `this database belongs to the chain with genesis hash ${bound}, but the ledger answers for ${genesisHash}: ` +
      "use another database for this chain, or the endpoints of the other chain",
  );
}
