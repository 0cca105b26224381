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
  /** A hundred people; the last ten have never held USDC. */
  readonly employees: readonly string[];
  /** Issues the stablecoins, and can freeze anybody's account of them. */
  readonly issuer: DemoWallet;
  readonly operator: OperatorWallets;
}

/** What belongs to the operator of the service. */
export interface OperatorWallets {
  /** Pays network costs in private mode. */
  readonly sponsor: DemoWallet;
  /** Receives the fees. */
  readonly treasury: DemoWallet;
  /** Trades with those who swap. */
  readonly desk: DemoWallet;
}

/** Where the service keeps what it knows. */
export type DemoDatabase = { readonly file: string } | { readonly url: string; readonly schema: string };

/** The file the service is started with. */
export interface ServiceSettings extends Pick<ChainReady, "rpcUrl" | "mints" | "operator"> {
  readonly database: DemoDatabase;
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
