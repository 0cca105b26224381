/** API keys: shown once, stored hashed, compared in constant time. */
import { commitOne } from "../../../../storage/decided.ts";
import { timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { holderOf, readNetwork, type NetworkAddress } from "../../../core/networks.ts";
import type { ApiKeyRecord } from "../tables/identity.ts";
import type { FrameStorage, FrameWrite } from "../frame-storage.ts";
import { PaymentError } from "../../../errors/errors.ts";
import { checkOptions, InvalidOptions, optionsWith } from "../../../core/options.ts";
import type { Clock, Logger, Random } from "../../../core/runtime.ts";
import type { KeyChecksums } from "../secrets/key-checksums.ts";
import { SCOPES, type Caller, type Scope } from "./caller.ts";
import { newId, sha256Hex } from "../ids.ts";
import { shownWords } from "../shown-words.ts";
import { MAINNET_GENESIS } from "../assets/assets.ts";
import { isCheckedKey, readKey, standingOf, writeKey, type KeyParts } from "./key-text.ts";
import { LastUseWriter, RefusedKeyCache } from "./key-use.ts";

/** `live` keys move real money and are refused off mainnet; `test` keys are refused on it. */
export type KeyEnvironment = "live" | "test";

/** Options of `issueKey`. */
export interface IssueKey {
  readonly accountId: string;
  readonly environment: KeyEnvironment;
  /** Default: all of them. */
  readonly scopes?: readonly Scope[];
  /**
   * Addresses and networks in CIDR notation, IPv4 or IPv6, that the key may be used from, at most 100. Which address a
   * request comes from is told by the option `clientAddress` of `createHttpHandler`. Default: any.
   */
  readonly allowedAddresses?: readonly string[];
  /** Milliseconds since the Unix epoch; default: never. */
  readonly expiresAt?: number;
}

/** A key that was issued. The only place that ever shows the whole key. */
export interface IssuedKey {
  readonly keyId: string;
  readonly key: string;
}

/** Options of `rotateKey`. */
export interface RotateKeyOptions {
  /**
   * The time for which the previous key goes on working, in milliseconds, 0 to 90 days; default 24 hours. The previous
   * key never works beyond its own expiry.
   */
  readonly overlapMs?: number;
}

/** A key that was issued in the place of another. */
export interface RotatedKey extends IssuedKey {
  readonly replaces: string;
  /** The end of the previous key, milliseconds since the Unix epoch. */
  readonly previousUntil: number;
}

/** A key as it may be shown: not even the hash of its secret leaves the database. Times are milliseconds since the Unix epoch. */
export interface ListedKey {
  readonly id: string;
  readonly accountId: string;
  readonly environment: KeyEnvironment;
  readonly scopes: readonly string[];
  /** Null: any address. */
  readonly allowedAddresses: readonly string[] | null;
  /** The id of the key that this key replaced. */
  readonly replaces: string | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** Null: never. Up to a minute older than the last use. */
  readonly lastUsedAt: number | null;
}

const newAccount = optionsWith({
  /** 1 to 200 characters, none of them invisible or a control character. */
  name: shownWords,
  tier: z.enum(["free", "pro", "enterprise"]),
});

/** Options of `createAccount`. @interface */
export type NewAccount = z.input<typeof newAccount>;

/** Scopes and addresses are judged with sentences of their own. */
const newKey = optionsWith({
  accountId: z.string().min(1),
  environment: z.enum(["live", "test"]),
  scopes: z.array(z.string()).optional(),
  allowedAddresses: z.array(z.string()).optional(),
  expiresAt: z.number().int().optional(),
});

/** Accounts and their keys. */
export interface ApiKeys {
  /** Opens an account; its id is new. Throws `InvalidOptions` for a name with invisible characters. */
  createAccount(account: NewAccount): Promise<{ accountId: string }>;
  /** Issues a key. Throws `InvalidOptions`. */
  issueKey(key: IssueKey): Promise<IssuedKey>;
  /** An account's keys, revoked and expired ones included, oldest first. */
  listKeys(accountId: string): Promise<readonly ListedKey[]>;
  /**
   * Issues a replacement for a key: same account, scopes, addresses and length of life. The old key ends after an
   * overlap. Both happen in one commit, and once for a key; a key revoked before the commit gets no replacement, and
   * revoking the old key later leaves the replacement alive. Throws `InvalidOptions`, and `KeyRefused` for a key that
   * does not exist, has ended, or was replaced before.
   */
  rotateKey(keyId: string, rotation?: RotateKeyOptions): Promise<RotatedKey>;
  /** Revokes a key for good; its next request is refused. */
  revokeKey(keyId: string): Promise<void>;
  /**
   * The caller behind an `Authorization` header, and the IP address that it comes from, null when that is unknown. Throws
   * `INVALID_API_KEY`, the same for a missing, garbled, unknown, wrong, revoked, expired or misplaced key and one that may
   * not be used from this address: the answer does not tell which.
   */
  authenticate(authorization: string | null, address?: string | null): Promise<Caller>;
}

/** Thrown for a key that cannot be rotated, with a sentence that says why. */
export class KeyRefused extends Error {
  override readonly name = "KeyRefused";
}

const SECRET_BYTES = 32;
const KEY_ID_BYTES = 16;

const MAX_ADDRESSES = 100;
const DAY_MS = 86_400_000;
const OVERLAP_MS = DAY_MS;
const MAX_OVERLAP_MS = 90 * DAY_MS;

interface ApiKeyParts {
  readonly storage: Pick<FrameStorage, "apiKey" | "apiKeysOf" | "commit">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /**
   * The accepted environment of keys; asked at each use, because the chain may be known only after the start. Null: no key
   * is accepted yet.
   */
  readonly environment: () => Promise<KeyEnvironment | null>;
  /** Null without master secrets: keys are issued with the checksum that anybody can compute. */
  readonly checksums: KeyChecksums | null;
}

type NewKey = Pick<
  ApiKeyRecord,
  "accountId" | "environment" | "scopes" | "allowedAddresses" | "expiresAt" | "replaces"
>;

export class StoredApiKeys implements ApiKeys {
  readonly #parts: ApiKeyParts;
  readonly #lastUse: LastUseWriter;
  readonly #refused: RefusedKeyCache;

  constructor(parts: ApiKeyParts) {
    this.#parts = parts;
    this.#refused = new RefusedKeyCache(parts.clock);
    this.#lastUse = new LastUseWriter(parts);
  }

  async createAccount(account: NewAccount): Promise<{ accountId: string }> {
    const { clock, random } = this.#parts;
    const { name, tier } = checkOptions("createAccount", newAccount, account);
    const createdAt = clock.now();
    const id = newId("acct", createdAt, random);
    await this.#insert({ table: "accounts", insert: { id, name, tier, createdAt } });
    return { accountId: id };
  }

  async issueKey(issue: IssueKey): Promise<IssuedKey> {
    const checked = checkOptions("issueKey", newKey, issue);
    const { accountId, environment, scopes = SCOPES, allowedAddresses = null, expiresAt = null } = checked;
    const problems = [...scopeProblems(scopes), ...addressProblems(allowedAddresses)];
    if (problems.length > 0) throw new InvalidOptions("issueKey", problems);
    const { record, issued } = await this.#newKey({
      accountId,
      environment,
      scopes,
      allowedAddresses,
      expiresAt,
      replaces: null,
    });
    await this.#insert({ table: "apiKeys", insert: record });
    return issued;
  }

  async listKeys(accountId: string): Promise<readonly ListedKey[]> {
    const all = await this.#parts.storage.apiKeysOf(accountId);
    return all.map(({ secretHash: _, version: __, ...listed }) => listed);
  }

  async rotateKey(keyId: string, { overlapMs = OVERLAP_MS }: RotateKeyOptions = {}): Promise<RotatedKey> {
    if (!(Number.isSafeInteger(overlapMs) && overlapMs >= 0 && overlapMs <= MAX_OVERLAP_MS)) {
      const problem = `overlapMs: expected whole milliseconds from 0 to ${MAX_OVERLAP_MS}`;
      throw new InvalidOptions("rotateKey", [problem]);
    }
    for (;;) {
      const rotated = await this.#tryRotation(keyId, overlapMs);
      if (rotated !== null) return rotated;
    }
  }

  /** Null when the key was changed meanwhile, so that its data are out of date: it may be revoked now. */
  async #tryRotation(keyId: string, overlapMs: number): Promise<RotatedKey | null> {
    const { storage, clock } = this.#parts;
    const now = clock.now();
    const previous = (await storage.apiKey(keyId))?.key ?? null;
    if (previous === null) throw new KeyRefused(`there is no key ${keyId}`);
    const { accountId, environment, scopes, allowedAddresses, createdAt, expiresAt } = previous;
    if (hasEnded(previous, now)) throw new KeyRefused(`the key ${keyId} has ended: issue a new one`);
    const { record, issued } = await this.#newKey({
      accountId,
      environment,
      scopes,
      allowedAddresses,
      expiresAt: expiresAt === null ? null : now + (expiresAt - createdAt),
      replaces: keyId,
    });
    const previousUntil = Math.min(expiresAt ?? Infinity, now + overlapMs);
    const expectedVersion = previous.version;
    const result = await commitOne(storage, {
      writes: [
        // `replaces` is unique: of two rotations at once one is refused here.
        { table: "apiKeys", insert: record },
        { table: "apiKeys", id: keyId, set: { expiresAt: previousUntil }, expectedVersion },
      ],
    });
    if (result.ok) return { ...issued, replaces: keyId, previousUntil };
    if (result.conflict === "write" && result.index === 1) return null;
    throw new KeyRefused(`the key ${keyId} was replaced before: rotate the key that replaces it`);
  }

  async revokeKey(keyId: string): Promise<void> {
    const { storage, clock } = this.#parts;
    const revokedAt = clock.now();
    await commitOne(storage, { writes: [{ table: "apiKeys", id: keyId, set: { revokedAt } }] });
  }

  async authenticate(authorization: string | null, address: string | null = null): Promise<Caller> {
    const given = readKey(authorization);
    const told = given === null ? "wrong" : await standingOf(given, this.#parts.checksums);
    if (given === null || told === "wrong") throw refused();
    const secretHash = sha256Hex(given.secret);
    const before = this.#refused.get(secretHash);
    if (before === null) throw refused();
    if (before !== undefined && !(await this.#isUsable(before, given, address))) throw refused();
    const found = await this.#parts.storage.apiKey(given.id);
    const isRight =
      found !== null &&
      timingSafeEqual(Buffer.from(secretHash, "hex"), Buffer.from(found.key.secretHash, "hex"));
    if (!isRight || !(await this.#isUsable(found.key, given, address))) {
      if (isRight || told === "right") this.#refused.add(secretHash, isRight ? found.key : null);
      throw told === "nothing" && isCheckedKey(authorization) ? refused(UNTOLD) : refused();
    }
    this.#lastUse.note(found.key);
    const { account, key } = found;
    return { accountId: account.id, tier: account.tier, scopes: key.scopes as readonly Scope[] };
  }

  /** Whether the key, whose secret is right, opens its account here and now. */
  async #isUsable(key: ApiKeyRecord, given: KeyParts, address: string | null): Promise<boolean> {
    return (
      key.environment === given.environment &&
      key.environment === (await this.#parts.environment()) &&
      !hasEnded(key, this.#parts.clock.now()) &&
      isAllowedFrom(key, address)
    );
  }

  async #newKey(key: NewKey): Promise<{ readonly record: ApiKeyRecord; readonly issued: IssuedKey }> {
    const { environment } = key;
    const id = this.#randomHex(KEY_ID_BYTES);
    const secret = this.#randomHex(SECRET_BYTES);
    const createdAt = this.#parts.clock.now();
    return {
      record: {
        ...key,
        id,
        version: 1,
        secretHash: sha256Hex(secret),
        createdAt,
        revokedAt: null,
        lastUsedAt: null,
      },
      issued: { keyId: id, key: await writeKey({ environment, id, secret }, this.#parts.checksums) },
    };
  }

  #randomHex(bytes: number): string {
    return Buffer.from(this.#parts.random.bytes(bytes)).toString("hex");
  }

  async #insert(write: FrameWrite): Promise<void> {
    const result = await commitOne(this.#parts.storage, { writes: [write] });
    if (!result.ok) throw new Error("a random id was taken; the random source does not work");
  }
}

/** Live keys belong to mainnet and test keys to every other chain. */
export function environmentOf(genesisHash: string): KeyEnvironment {
  return genesisHash === MAINNET_GENESIS ? "live" : "test";
}

function scopeProblems(scopes: readonly string[]): readonly string[] {
  const known: readonly string[] = SCOPES;
  const unknown = scopes.filter((scope) => !known.includes(scope));
  return unknown.length === 0 ? [] : [`scopes: ${unknown.join(", ")}: expected ${SCOPES.join(", ")}`];
}

function addressProblems(addresses: readonly string[] | null): readonly string[] {
  if (addresses === null) return [];
  if (addresses.length === 0) {
    return ["allowedAddresses: expected an address or a network; leave it out for any address"];
  }
  if (addresses.length > MAX_ADDRESSES) {
    return [`allowedAddresses: ${addresses.length} of them: expected at most ${MAX_ADDRESSES}`];
  }
  return addresses
    .filter((text) => readNetwork(text) === null)
    .map((text) => `allowedAddresses: ${text}: expected an address or a network, such as 203.0.113.0/24`);
}

function hasEnded({ revokedAt, expiresAt }: ApiKeyRecord, now: number): boolean {
  return revokedAt !== null || (expiresAt !== null && expiresAt <= now);
}

/** An unknown address is in no list. */
function isAllowedFrom({ allowedAddresses }: ApiKeyRecord, address: string | null): boolean {
  if (allowedAddresses === null) return true;
  const networks = allowedAddresses
    .map(readNetwork)
    .filter((network): network is NetworkAddress => network !== null);
  return address !== null && holderOf(networks)(address);
}

/** The cause of a refusal: the key has a checksum under the database's secret, and it took a look-up to tell the key. */
const UNTOLD = "the secret of the checksums does not open";

/** Whether keys that begin with `psk_` cost a look-up, made-up ones among them. */
export function isUntold({ cause }: PaymentError): boolean {
  return cause === UNTOLD;
}

function refused(cause?: string): PaymentError {
  return new PaymentError("INVALID_API_KEY", {}, { cause });
}
