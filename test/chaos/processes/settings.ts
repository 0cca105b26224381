/** What the processes of a chaos run tell each other. */

/** What the chain is started with. */
export interface ChainSettings {
  readonly slotMs: number;
  /** Of its faults. */
  readonly seed: number;
}

/** A key pair: the secret in base64 of its 64 bytes. */
export interface ChaosWallet {
  readonly address: string;
  readonly secretKey: string;
}

/** What the chain says once it is ready. */
export interface ChainReady {
  readonly rpcUrl: string;
  readonly mints: { readonly USDC: string; readonly USDT: string };
  readonly wallets: Readonly<Record<"sponsor" | "treasury" | "alice", ChaosWallet>>;
  /** Pays for the accounts of what is given from outside. */
  readonly faucet: string;
}

/**
 * Asked of the chain: so many raw units of USDC for an address, whatever fork comes; an end of all faults, or that they go
 * on; or that its clock is turned forward.
 */
export type ChainDemand =
  | { readonly asks: "give"; readonly address: string; readonly amount: string }
  | { readonly asks: "heal" | "spoil" }
  | { readonly asks: "turn"; readonly byMs: number };

/** Which database a service is started on. A server's own clock cannot be turned: then the services' own is gone by. */
export type DatabaseSettings =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly url: string; readonly clock: "database" | "caller" };

/** What a service is started with. */
export interface ServiceSettings {
  readonly database: DatabaseSettings;
  readonly chain: ChainReady;
  /** The authority behind the receiver's certificate, in PEM. */
  readonly receiverAuthority: string;
  /** How far the clock of its machine is off, in milliseconds. */
  readonly clockOffMs: number;
  /** A file of eight bytes: by how much the clock of its machine was put besides. Frozen processes read it as soon as they wake. */
  readonly clockFile: string | null;
}

/** What a service says once it takes requests. */
export interface ServiceReady {
  readonly baseUrl: string;
}
