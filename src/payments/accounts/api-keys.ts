/** API keys: `ps_live_<id>_<secret>_<checksum>`, shown once, stored hashed, compared in constant time. */
import { timingSafeEqual } from "node:crypto";
import type { ApiKeyRecord, Tier } from "../records.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import { PaymentError } from "../../errors.ts";
import { InvalidOptions } from "../../options.ts";
import type { Clock, Random } from "../../runtime.ts";
import { SCOPES, type Caller, type Scope } from "./caller.ts";
import { newId, sha256Hex } from "../ids.ts";

/** `live` keys move real money and are refused off mainnet; `test` keys are refused on it. */
export type KeyEnvironment = "live" | "test";

/** What `issueKey` is given. */
export interface IssueKey {
  readonly accountId: string;
  readonly environment: KeyEnvironment;
  /** Default: all of them. */
  readonly scopes?: readonly Scope[];
  /** Milliseconds since the Unix epoch; default: never. */
  readonly expiresAt?: number;
}

/** What `createAccount` is given. */
export interface NewAccount {
  readonly name: string;
  readonly tier: Tier;
}

/** Accounts and their keys. */
export interface ApiKeys {
  /** Opens an account; its id is new. */
  createAccount(account: NewAccount): Promise<{ accountId: string }>;
  /** Issues a key. The answer is the only place that ever shows the whole key. */
  issueKey(key: IssueKey): Promise<{ keyId: string; key: string }>;
  /** Revokes a key for good; its next request is refused. */
  revokeKey(keyId: string): Promise<void>;
  /**
   * The caller behind an `Authorization` header. Throws `INVALID_API_KEY`, the same for a missing, garbled, unknown,
   * wrong, revoked, expired or misplaced key, so that the answer does not tell which.
   */
  authenticate(authorization: string | null): Promise<Caller>;
}

// The scheme is no secret and has no case (RFC 9110); everything after it has.
const KEY_SHAPE = /^[Bb][Ee][Aa][Rr][Ee][Rr] ps_(live|test)_([0-9a-f]{32})_([0-9a-f]{64})_([0-9a-f]{8})$/;
const SECRET_BYTES = 32;
const KEY_ID_BYTES = 16;
const CHECKSUM_LENGTH = 8;

/** What keys are made of and checked against. */
export interface ApiKeyParts {
  readonly storage: Pick<PaymentStorage, "apiKey" | "commit">;
  readonly clock: Clock;
  readonly random: Random;
  /** Which keys are taken on this chain; asked at each use, because the chain is known only after the start. */
  readonly environments: () => readonly KeyEnvironment[];
}

/** The accounts and keys of one database. */
export class StoredApiKeys implements ApiKeys {
  readonly #parts: ApiKeyParts;

  constructor(parts: ApiKeyParts) {
    this.#parts = parts;
  }

  async createAccount({ name, tier }: NewAccount): Promise<{ accountId: string }> {
    const { clock, random } = this.#parts;
    const createdAt = clock.now();
    const id = newId("acct", createdAt, random);
    await this.#insert({ table: "accounts", insert: { id, name, tier, createdAt } });
    return { accountId: id };
  }

  async issueKey(issue: IssueKey): Promise<{ keyId: string; key: string }> {
    const { accountId, environment, scopes = SCOPES, expiresAt = null } = issue;
    const unknown = scopes.filter((scope) => !SCOPES.includes(scope));
    if (unknown.length > 0) {
      throw new InvalidOptions("issueKey", [`scopes: ${unknown.join(", ")}: expected ${SCOPES.join(", ")}`]);
    }
    const id = this.#randomHex(KEY_ID_BYTES);
    const secret = this.#randomHex(SECRET_BYTES);
    const key: ApiKeyRecord = {
      id,
      accountId,
      secretHash: sha256Hex(secret),
      environment,
      scopes,
      createdAt: this.#parts.clock.now(),
      expiresAt,
      revokedAt: null,
    };
    await this.#insert({ table: "apiKeys", insert: key });
    return { keyId: id, key: `ps_${environment}_${id}_${secret}_${checksum(environment, id, secret)}` };
  }

  async revokeKey(keyId: string): Promise<void> {
    const { storage, clock } = this.#parts;
    const revokedAt = clock.now();
    await storage.commit([{ writes: [{ table: "apiKeys", id: keyId, set: { revokedAt } }] }]);
  }

  async authenticate(authorization: string | null): Promise<Caller> {
    const match = KEY_SHAPE.exec(authorization ?? "");
    const [, environment = "", id = "", secret = "", check = ""] = match ?? [];
    // The checksum tells a typo from an attack without a look at the database.
    if (match === null || check !== checksum(environment, id, secret)) throw refused();
    const found = await this.#parts.storage.apiKey(id);
    if (found === null) throw refused();
    const { key, account } = found;
    const isValid =
      timingSafeEqual(Buffer.from(sha256Hex(secret), "hex"), Buffer.from(key.secretHash, "hex")) &&
      key.environment === environment &&
      this.#parts.environments().includes(key.environment) &&
      key.revokedAt === null &&
      (key.expiresAt === null || key.expiresAt > this.#parts.clock.now());
    if (!isValid) throw refused();
    return { accountId: account.id, tier: account.tier, scopes: key.scopes as readonly Scope[] };
  }

  #randomHex(bytes: number): string {
    return Buffer.from(this.#parts.random.bytes(bytes)).toString("hex");
  }

  async #insert(write: PaymentWrite): Promise<void> {
    const [result] = await this.#parts.storage.commit([{ writes: [write] }]);
    if (result?.ok !== true) throw new Error("a random id was taken; the random source does not work");
  }
}

function refused(): PaymentError {
  return new PaymentError("INVALID_API_KEY", {});
}

function checksum(environment: string, id: string, secret: string): string {
  return sha256Hex(`ps_${environment}_${id}_${secret}`).slice(0, CHECKSUM_LENGTH);
}
