/** The keys of deposit addresses: derived when they are needed, stored nowhere. */
import { hkdfSync } from "node:crypto";
import { addressOf, type Address } from "../../../core/address.ts";
import { keypairSigner, type Signer } from "../../../ledger/sign-transaction.ts";
import type { MasterSecret } from "./secret-box.ts";

interface DepositKey {
  readonly masterVersion: number;
  readonly transactionId: string;
}

/** Everything private about a deposit address, at arm's length. */
export interface DepositKeys {
  /** The master secret that new addresses come from. */
  readonly newestVersion: number;
  /** Signs as the address. Throws when the master secret of this version is not given. */
  signer(key: DepositKey): Signer;
  address(key: DepositKey): Address;
  /** The key that a Solana Pay request for the address names: nobody has its secret half, and nobody guesses it before it is shown. */
  referenceKey(key: DepositKey): Address;
}

/**
 * The derivation: HKDF-SHA256 over a master secret, salted with the chain's genesis hash, for one transaction id. A lost
 * database loses no money: ids and master secret bring every key back.
 */
export function depositKeys(masterSecrets: readonly MasterSecret[], genesisHash: () => string): DepositKeys {
  const derive = (purpose: string, { masterVersion, transactionId }: DepositKey): Buffer => {
    const master = masterSecrets.find(({ version }) => version === masterVersion);
    if (master === undefined) {
      throw new Error(
        `masterSecrets: version ${masterVersion} is needed by an open deposit address, and not given`,
      );
    }
    const info = `paystate ${purpose} v1\n${transactionId}`;
    return Buffer.from(hkdfSync("sha256", master.secret, genesisHash(), info, 32));
  };
  const signer = (key: DepositKey): Signer => keypairSigner(derive("deposit address", key));
  return {
    newestVersion: masterSecrets[0]?.version ?? 0,
    signer,
    address: (key) => signer(key).address,
    referenceKey: (key) => addressOf(derive("deposit reference", key)),
  };
}
