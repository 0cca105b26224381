/** What the processes of the killing test tell each other. */

/** The chain's one line once it is ready. */
export interface ChainReady {
  readonly rpcUrl: string;
  readonly mints: { readonly USDC: string; readonly USDT: string };
  readonly alice: { readonly address: string; /** Base64 of the 64 bytes. */ readonly secretKey: string };
}

/** What the chain is started with. */
export interface ChainSettings {
  readonly journal: string;
  /** 0 for any. */
  readonly port: number;
  readonly slotMs: number;
}

/** What the service is started with. */
export interface ServiceSettings {
  readonly database: string;
  readonly rpcUrl: string;
  readonly mints: ChainReady["mints"];
  /** The authority behind the receiver's certificate, in PEM. */
  readonly receiverAuthority: string;
}

/** The service's one line once it is ready. */
export interface ServiceReady {
  readonly baseUrl: string;
  /** A key of an account that is new at every start. */
  readonly apiKey: string;
}
