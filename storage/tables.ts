/**
 * What every table holds, in one place for all adapters: the kind of each field, what is unique, by which fields rows
 * are looked up, and what `atMost` counts. A record type and its description cannot drift apart: the compiler compares
 * them field by field.
 */
import type { PaymentTables, RecipientShare } from "./records.ts";
import type { HistoryRecord, InstanceRecord, WatchRecord } from "./storage.ts";

/** How a field is kept. `amount` is a bigint, `strings` a list of strings, `shares` a list of recipient shares. */
export type ColumnKind = "text" | "integer" | "amount" | "boolean" | "bytes" | "strings" | "shares";

/** A kind, with `?` when the field may be null. */
export type Column = ColumnKind | `${ColumnKind}?`;

type KindOf<V> = [V] extends [string]
  ? "text"
  : [V] extends [number]
    ? "integer"
    : [V] extends [bigint]
      ? "amount"
      : [V] extends [boolean]
        ? "boolean"
        : [V] extends [Uint8Array]
          ? "bytes"
          : [V] extends [readonly string[]]
            ? "strings"
            : [V] extends [readonly RecipientShare[]]
              ? "shares"
              : never;

type ColumnOf<V> = null extends V ? `${KindOf<NonNullable<V>>}?` : KindOf<V>;

/** One table. `R` is the record it holds. */
export interface Table<R> {
  readonly columns: { readonly [F in keyof R & string]: ColumnOf<R[F]> };
  /** The fields that identify a row; `id` alone unless said otherwise. */
  readonly key?: readonly (keyof R & string)[];
  /** Fields that are unique besides the key. */
  readonly unique?: readonly (keyof R & string)[];
  /** True when rows are only added: a commit that changes one is a mistake of its caller, and rejects. */
  readonly appendOnly?: boolean;
  /** The field whose value gathers the rows that are read together. */
  readonly lookup?: keyof R & string;
  /**
   * Which rows `atMost` counts as one group: equal in `by`, to which `lookup` belongs; and newer than `since`, or with
   * `open` still null. `sum` is what `atMost` adds up where it has a `total`.
   */
  readonly group?:
    | {
        readonly by: readonly (keyof R & string)[];
        readonly since: keyof R & string;
        readonly sum?: keyof R & string;
      }
    | {
        readonly by: readonly (keyof R & string)[];
        readonly open: keyof R & string;
        readonly sum?: keyof R & string;
      };
}

/** The tables of the payment service. A table with a `version` column counts its updates there. */
export const paymentTables: { readonly [T in keyof PaymentTables]: Table<PaymentTables[T]> } = {
  facts: { columns: { id: "text", value: "text" } },
  accounts: { columns: { id: "text", name: "text", tier: "text", createdAt: "integer" } },
  apiKeys: {
    columns: {
      id: "text",
      accountId: "text",
      secretHash: "text",
      environment: "text",
      scopes: "strings",
      createdAt: "integer",
      expiresAt: "integer?",
      revokedAt: "integer?",
    },
  },
  quotes: {
    columns: {
      id: "text",
      version: "integer",
      accountId: "text",
      mode: "text",
      inputMint: "text",
      outputMint: "text",
      inputAmount: "amount",
      outputAmount: "amount",
      minOutputAmount: "amount",
      feeMint: "text",
      networkFee: "amount",
      routingFee: "amount",
      rent: "amount",
      pricedAccounts: "integer",
      slippageBps: "integer",
      priceImpact: "text",
      sender: "text?",
      recipients: "shares?",
      exchange: "text?",
      createdAt: "integer",
      expiresAt: "integer",
      usedBy: "text?",
    },
  },
  transactions: {
    columns: {
      id: "text",
      accountId: "text",
      quoteId: "text",
      type: "text",
      mode: "text",
      sender: "text",
      mint: "text",
      feeMint: "text",
      depositAddress: "text?",
      reference: "text?",
      requestHash: "text",
      status: "text",
      reason: "text?",
      signature: "text?",
      blockTime: "integer?",
      fee: "amount?",
      landedAfterCancel: "boolean",
      attention: "text?",
      landedSignature: "text?",
      broadcastAt: "integer?",
      cancelledAt: "integer?",
      createdAt: "integer",
    },
    lookup: "accountId",
  },
  recipients: {
    columns: {
      id: "text",
      transactionId: "text",
      accountId: "text",
      createdAt: "integer",
      index: "integer",
      address: "text",
      amount: "amount",
      status: "text",
      signature: "text?",
    },
    lookup: "transactionId",
  },
  deposits: {
    columns: {
      id: "text",
      transactionId: "text",
      accountId: "text",
      masterVersion: "integer",
      mint: "text",
      amount: "amount",
      expiresAt: "integer",
      waitEndedAt: "integer?",
      heldReason: "text?",
      createdAt: "integer",
    },
    unique: ["transactionId"],
    lookup: "accountId",
    group: { by: ["accountId"], open: "waitEndedAt" },
  },
  payments: {
    columns: {
      id: "text",
      transactionId: "text",
      address: "text",
      kind: "text",
      status: "text",
      mark: "text",
      mint: "text",
      legs: "shares",
      plan: "text",
      signature: "text?",
      reason: "text?",
      createdAt: "integer",
    },
    lookup: "transactionId",
  },
  entries: {
    columns: {
      id: "text",
      address: "text",
      at: "integer",
      kind: "text",
      mint: "text",
      amount: "amount",
      signature: "text?",
    },
    lookup: "address",
  },
  reservations: {
    columns: {
      id: "text",
      version: "integer",
      resource: "text",
      amount: "amount",
      createdAt: "integer",
      lapsesAt: "integer?",
      releasedAt: "integer?",
    },
    lookup: "resource",
    group: { by: ["resource"], open: "releasedAt", sum: "amount" },
  },
  attempts: {
    columns: {
      id: "text",
      messageHash: "text",
      transactionId: "text",
      bytes: "bytes",
      blockhash: "text",
      lastValidBlockHeight: "integer",
      firstSlot: "integer",
      reference: "text?",
      createdAt: "integer",
    },
    unique: ["messageHash"],
  },
  idempotency: { columns: { id: "text", fingerprint: "text", answer: "text", createdAt: "integer" } },
  notices: {
    columns: {
      id: "text",
      transactionId: "text",
      event: "text",
      status: "text",
      reason: "text?",
      signature: "text?",
      blockTime: "integer?",
      fee: "amount?",
      body: "text?",
      createdAt: "integer",
    },
    lookup: "transactionId",
  },
  announcements: {
    columns: { id: "text", accountId: "text", at: "integer" },
    lookup: "accountId",
  },
  webhooks: {
    columns: {
      id: "text",
      version: "integer",
      accountId: "text",
      url: "text",
      events: "strings",
      sealedSecret: "text?",
      previousSealedSecret: "text?",
      previousUntil: "integer?",
      disabledAt: "integer?",
      disabledReason: "text?",
      createdAt: "integer",
      deletedAt: "integer?",
    },
    lookup: "accountId",
    group: { by: ["accountId"], open: "deletedAt" },
  },
  deliveries: {
    columns: {
      id: "text",
      accountId: "text",
      webhookId: "text",
      noticeId: "text",
      transactionId: "text",
      status: "text",
      attempts: "integer",
      runs: "integer",
      createdAt: "integer",
    },
    lookup: "transactionId",
  },
  deliveryAttempts: {
    columns: {
      id: "text",
      deliveryId: "text",
      number: "integer",
      startedAt: "integer",
      durationMs: "integer",
      httpStatus: "integer?",
      error: "text?",
      excerpt: "text?",
    },
    lookup: "deliveryId",
  },
  limitHits: {
    columns: { id: "text", accountId: "text", scope: "text", at: "integer" },
    lookup: "accountId",
    group: { by: ["accountId", "scope"], since: "at" },
  },

  spendings: {
    columns: { id: "text", purse: "text", amount: "amount", at: "integer" },
    lookup: "purse",
  },
  gates: { columns: { id: "text", version: "integer", rules: "text" } },
  volumes: {
    columns: { id: "text", scope: "text", at: "integer", amount: "amount" },
    lookup: "scope",
    group: { by: ["scope"], since: "at", sum: "amount" },
  },
  matters: {
    columns: {
      id: "text",
      version: "integer",
      kind: "text",
      state: "text",
      transactionId: "text?",
      accountId: "text?",
      message: "text",
      since: "integer",
      toldAt: "integer?",
      tellingUntil: "integer?",
    },
    lookup: "state",
  },
  decisions: { columns: { id: "text", version: "integer", proposal: "text?", decidedAt: "integer" } },
  audit: {
    columns: { id: "text", at: "integer", actor: "text", reason: "text", act: "text", what: "text" },
    appendOnly: true,
  },
};

/** A task as it is kept, with its lease. */
export interface StoredTask {
  readonly id: string;
  readonly instance: string;
  readonly workflow: string;
  readonly kind: "effect" | "timer" | "message";
  readonly name: string;
  readonly payload: string;
  readonly dueAt: number;
  readonly lane: string | null;
  readonly cap: number | null;
  /** When it may next be claimed: its due time, or the end of its lease while somebody holds it. */
  readonly visibleAt: number;
  readonly holder: string | null;
  /** That of the latest claim, 0 before the first. */
  readonly token: number;
  readonly crashes: number;
  readonly failures: number;
  readonly lastError: string | null;
  /** When it was due as it first failed; null while it has not. */
  readonly failingSince: number | null;
  /** When it was set aside as a dead letter. */
  readonly deadAt: number | null;
}

/** Who polls a shard of a watch kind, and until when. */
export interface ShardLease {
  readonly kind: string;
  readonly shard: number;
  readonly holder: string;
  readonly leaseUntil: number;
}

/** The engine's own tables. */
export interface EngineTables {
  instances: InstanceRecord;
  tasks: StoredTask;
  watches: WatchRecord;
  watchShards: ShardLease;
  history: HistoryRecord;
}

export const engineTables: { readonly [T in keyof EngineTables]: Table<EngineTables[T]> } = {
  instances: {
    columns: {
      id: "text",
      workflow: "text",
      hash: "text",
      version: "integer",
      status: "text",
      snapshot: "text",
      createdAt: "integer",
      updatedAt: "integer",
    },
  },
  tasks: {
    columns: {
      id: "text",
      instance: "text",
      workflow: "text",
      kind: "text",
      name: "text",
      payload: "text",
      dueAt: "integer",
      lane: "text?",
      cap: "integer?",
      visibleAt: "integer",
      holder: "text?",
      token: "integer",
      crashes: "integer",
      failures: "integer",
      lastError: "text?",
      failingSince: "integer?",
      deadAt: "integer?",
    },
    lookup: "instance",
  },
  watches: {
    columns: { kind: "text", key: "text", instance: "text", workflow: "text", shard: "integer" },
    key: ["kind", "key", "instance"],
    lookup: "kind",
  },
  watchShards: {
    columns: { kind: "text", shard: "integer", holder: "text", leaseUntil: "integer" },
    key: ["kind", "shard"],
    lookup: "kind",
  },
  history: {
    columns: { instance: "text", version: "integer", at: "integer", event: "text", value: "text" },
    key: ["instance", "version"],
    lookup: "instance",
  },
};
