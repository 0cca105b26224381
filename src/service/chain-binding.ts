/** The chain that a service works on: known once a node was asked, and the same for as long as its database lives. */
import type { Ledger } from "../ledger/ledger.ts";
import { environmentOf, type KeyEnvironment } from "../payments/frame/accounts/api-keys.ts";
import type { PaymentStorage } from "../payments/payment-storage.ts";
import { bindDatabase, bindSecrets } from "../payments/frame/secrets/bind-database.ts";
import type { MasterSecret } from "../payments/frame/secrets/secret-box.ts";

/** The storage, ledger and secrets of a binding. */
interface BoundParts {
  readonly storage: PaymentStorage;
  /** Behind the gate: while a start waits for the chain, nothing else is bound to what answers. */
  readonly ledger: Pick<Ledger, "genesisHash">;
  readonly masterSecrets: readonly MasterSecret[];
  /** The environment that the host names; undefined: that of the chain, once it is known. */
  readonly environment: KeyEnvironment | undefined;
}

/** Binds the database to its chain, and remembers the chain. */
export class ChainBinding {
  readonly #with: BoundParts;
  #genesisHash: string | null = null;
  /** The chain stored in the database, even when the chain itself does not answer; null for a new database. */
  #stored: string | null = null;

  constructor(parts: BoundParts) {
    this.#with = parts;
  }

  /** Keys of deposit addresses belong to one chain: throws before the service was bound to it. */
  get genesisHash(): string {
    if (this.#genesisHash !== null) return this.#genesisHash;
    throw new Error("start() the payment service first: it is not bound to its chain yet");
  }

  /**
   * The environment of accepted keys: a live key outside mainnet, or a test key on mainnet, is refused as a mistake. Null
   * while neither the chain, nor the database, nor the host has told.
   */
  async keyEnvironment(): Promise<KeyEnvironment | null> {
    this.#stored ??= this.#genesisHash ?? (await this.#with.storage.fact("genesisHash"));
    return this.#environment ?? null;
  }

  /** A chain that is not known to be for tests counts as production. */
  get isProduction(): boolean {
    return this.#environment !== "test";
  }

  get #environment(): KeyEnvironment | undefined {
    const chain = this.#genesisHash ?? this.#stored;
    return chain === null ? this.#with.environment : environmentOf(chain);
  }

  /** Throws `StartRefused` for a database of another chain or of other secrets, `LedgerUnavailable` when the chain is silent. */
  async bind(): Promise<void> {
    await this.bindTo(await this.#with.ledger.genesisHash());
  }

  async bindTo(genesisHash: string): Promise<void> {
    const { storage, masterSecrets } = this.#with;
    await bindDatabase(storage, genesisHash, masterSecrets);
    this.#genesisHash = genesisHash;
  }

  /** Reads and binds as much as is possible while the chain is silent. Throws `StartRefused` for wrong secrets. */
  async bindWithoutChain(): Promise<void> {
    const { storage, masterSecrets } = this.#with;
    this.#stored = await storage.fact("genesisHash");
    await bindSecrets(storage, masterSecrets);
  }
}
