/** What the demo's processes tell each other. */

/** A wallet of the local chain. */
export interface DemoWallet {
  readonly address: string;
  /** Base58 of the 64 bytes, as wallets export it. */
  readonly secretKey: string;
}

/** The chain's one line once it is ready. */
export interface ChainReady {
  readonly rpcUrl: string;
  readonly mints: { readonly USDC: string; readonly USDT: string };
  readonly alice: DemoWallet;
  readonly bob: DemoWallet;
}

/** The file the service is started with. */
export interface ServiceSettings {
  readonly database: string;
  readonly rpcUrl: string;
  readonly mints: { readonly USDC: string; readonly USDT: string };
  /** 32 bytes in hexadecimal. */
  readonly masterSecret: string;
  /** The authority behind the receiver's certificate, in PEM. */
  readonly receiverAuthority: string;
}

/** The service's one line once it is ready. */
export interface ServiceReady {
  readonly baseUrl: string;
  readonly apiKey: string;
}
