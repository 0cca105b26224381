/** Tables of callers: accounts, keys, and stored answers. */
import { column, ownTable, type Row } from "../../../../storage/table.ts";
import { rowOf, type TableReader } from "./read.ts";

/** The tier of an account. Limits and ownership are per account, never per key. */
export type Tier = "free" | "pro" | "enterprise";

export const accounts = ownTable("accounts", {
  columns: { id: "text", name: "text", tier: column<Tier>("text"), createdAt: "integer" },
});

export interface AccountRecord extends Row<typeof accounts> {}

/** API keys. `id` is a key's public part; its secret is stored hashed and was shown once. */
export const apiKeys = ownTable("apiKeys", {
  columns: {
    id: "text",
    /** Guards a rotation against what happens to the key meanwhile. */
    version: "integer",
    accountId: "text",
    /** SHA-256 of the secret, hex. */
    secretHash: "text",
    environment: column<"live" | "test">("text"),
    scopes: column<readonly string[]>("json"),
    /** Addresses and networks in CIDR notation that the key may be used from, null for any. */
    allowedAddresses: column<readonly string[] | null>("json?"),
    /** The id of the key that this key replaced. */
    replaces: "text?",
    createdAt: "integer",
    expiresAt: "integer?",
    revokedAt: "integer?",
    /** Written at most once a minute. */
    lastUsedAt: "integer?",
  },
  unique: ["replaces"],
  indexes: { ofAccount: ["accountId", "createdAt", "id"] },
});

export interface ApiKeyRecord extends Row<typeof apiKeys> {}

/** Answers to requests that carried an Idempotency-Key. `id` is a hash of account, method, path and key. */
export const idempotency = ownTable("idempotency", {
  columns: {
    id: "text",
    /** SHA-256 of the raw request body, hex. */
    fingerprint: "text",
    /** The answer's body, byte for byte. */
    answer: "text",
    createdAt: "integer",
  },
  indexes: { byAge: ["createdAt", "id"] },
  settled: true,
});

export interface IdempotencyRecord extends Row<typeof idempotency> {}

export const identityReads = (read: TableReader) => ({
  /** A key by its public id, with the account it belongs to. */
  async apiKey(id: string): Promise<{ readonly key: ApiKeyRecord; readonly account: AccountRecord } | null> {
    const key = await rowOf(read, apiKeys, id);
    const account = key === null ? null : await rowOf(read, accounts, key.accountId);
    return key === null || account === null ? null : { key, account };
  },
  account: (id: string) => rowOf(read, accounts, id),
  /** Up to `limit` accounts by ascending id, which is the order in which they were made, the first one above `after`. */
  accountsAfter: (after: string, limit: number) =>
    read.find({ table: accounts, index: "key", after: [after], limit }),
  /** An account's keys, revoked and expired ones included, oldest first. */
  apiKeysOf: (accountId: string) => read.find({ table: apiKeys, index: "ofAccount", equals: { accountId } }),
  idempotency: (id: string) => rowOf(read, idempotency, id),
});
