/** What a tour with a generated client is given: where the API is, a key, and what a client cannot do by itself. */

/** The other half of a tour: the owner's wallet, the chain, and a receiver of webhooks. */
export interface TourScene {
  readonly baseUrl: string;
  readonly key: string;
  /** The wallet that pays. */
  readonly sender: string;
  readonly recipient: string;
  /** An HTTPS receiver that takes everything. */
  readonly receiverUrl: string;
  /** Signs an unsigned transaction in base64 as the sender. */
  sign(unsigned: string): string;
  /** Pays whole USDC to a deposit address. */
  deposit(address: string, usdc: number): Promise<void>;
  /** Lets the chain and the service go on until what is under way is final. */
  settle(): Promise<void>;
}

/** One way through every endpoint. Rejects where an answer is not what was promised. */
export type Tour = (scene: TourScene) => Promise<void>;
