/**
 * The records of the payment service as storage keeps them: plain values, times in milliseconds since the Unix epoch,
 * amounts as bigint base units. Every record has an `id`, unique in its table; other uniqueness is noted at the field.
 */
import type { Address } from "../address.ts";

/** Who may do how much. Limits and ownership are per account, never per key. */
export type Tier = "free" | "pro" | "enterprise";

/** A fact about the whole database, such as the genesis hash it belongs to. */
export interface FactRecord {
  readonly id: string;
  readonly value: string;
}

/**
 * A stretch of time in which some process was at work on the database. What is between the end of one and the beginning of
 * the next is a gap: then another copy of the database may have been at work.
 */
export interface LifeRecord {
  readonly id: string;
  /** Of several processes one notes a sign. */
  readonly version: number;
  readonly since: number;
  /** The last sign of life in it. */
  readonly until: number;
}

export interface AccountRecord {
  readonly id: string;
  readonly name: string;
  readonly tier: Tier;
  readonly createdAt: number;
}

/** An API key: its secret is stored hashed and was shown once. `id` is the key's public part. */
export interface ApiKeyRecord {
  readonly id: string;
  /** Guards a rotation against what happens to the key meanwhile. */
  readonly version: number;
  readonly accountId: string;
  /** SHA-256 of the secret, hex. */
  readonly secretHash: string;
  readonly environment: "live" | "test";
  readonly scopes: readonly string[];
  /** Addresses and networks in CIDR notation that it may be used from, null for any. */
  readonly allowedAddresses: readonly string[] | null;
  /** Unique: the key that this one was made to take the place of. */
  readonly replaces: string | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** Written at most once a minute. */
  readonly lastUsedAt: number | null;
}

export interface RecipientShare {
  readonly address: Address;
  readonly amount: bigint;
}

/** A price that was promised. `version` guards its single use and its refreshes. */
export interface QuoteRecord {
  readonly id: string;
  readonly version: number;
  readonly accountId: string;
  readonly mode: "wallet" | "private";
  /** Mint addresses; SOL is its wrapped mint. */
  readonly inputMint: string;
  readonly outputMint: string;
  readonly inputAmount: bigint;
  readonly outputAmount: bigint;
  readonly minOutputAmount: bigint;
  readonly feeMint: string;
  readonly networkFee: bigint;
  readonly routingFee: bigint;
  readonly rent: bigint;
  /** Private mode: how many token accounts of recipients the price includes. */
  readonly pricedAccounts: number;
  readonly slippageBps: number;
  /** In percent, as decimal text. */
  readonly priceImpact: string;
  readonly sender: Address | null;
  /** Bound recipients, null when the quote left them open. */
  readonly recipients: readonly RecipientShare[] | null;
  /** A swap in wallet mode: the transaction that was last given out to be signed, as JSON text. */
  readonly swap: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** When a caller was first told that the quote has expired: requests that read the quote before cannot use the quote any more. A refresh opens it again. */
  readonly closedAt: number | null;
  /** The one transaction that used the quote up. */
  readonly usedBy: string | null;
}

/** The public status of a transaction. */
export type TransactionStatus = "pending" | "confirmed" | "processing" | "completed" | "failed" | "cancelled";

/** Why a transaction needs an operator. `unprovable`: no evidence tells whether its bytes landed. */
export type TransactionAttention = "unprovable";

/** A payment order of the API, as its readers see it; the machine's own state is its instance of the same id. */
export interface TransactionRecord {
  readonly id: string;
  readonly accountId: string;
  readonly quoteId: string;
  readonly type: "send" | "swap" | "payroll";
  readonly mode: "wallet" | "private";
  readonly sender: Address;
  /** Mint of what the recipients receive. */
  readonly mint: string;
  /** Mint of what the fee is paid in: SOL in wallet mode, what is deposited in private mode. */
  readonly feeMint: string;
  /** Private mode: where the caller sends the money; its row in `deposits`. */
  readonly depositAddress: Address | null;
  /** What its owner calls it; not unique. */
  readonly reference: string | null;
  /** SHA-256 of the request that created it, hex: the same request again is answered with the same transaction. */
  readonly requestHash: string;
  readonly status: TransactionStatus;
  readonly reason: string | null;
  readonly signature: string | null;
  /** Unix seconds, once final. */
  readonly blockTime: number | null;
  /** Base units of the fee's asset, once final. */
  readonly fee: bigint | null;
  /** It landed although it had been cancelled, or judged to be past landing. */
  readonly landedAfterCancel: boolean;
  /** Why it needs an operator, null while it does not. */
  readonly attention: TransactionAttention | null;
  /** Where its sender signed the same message again: the signature under which that landed. */
  readonly landedSignature: string | null;
  /** When the point of no return was passed: "broadcast started" was committed before the first byte left. */
  readonly broadcastAt: number | null;
  readonly cancelledAt: number | null;
  readonly createdAt: number;
}

/**
 * One recipient of a transaction. `id` is `transactionId:index`. Account and time of creation are those of the
 * transaction, so that an account's payments to one address are found in their order.
 */
export interface RecipientRecord {
  readonly id: string;
  readonly transactionId: string;
  readonly accountId: string;
  readonly createdAt: number;
  readonly index: number;
  readonly address: Address;
  readonly amount: bigint;
  readonly status: "unpaid" | "paid";
  readonly signature: string | null;
}

/**
 * A one-time deposit address. `id` is the address. No key is stored: it is derived from the master secret of this
 * version, the chain's genesis hash and the transaction's id, so a lost database loses no money.
 */
export interface DepositRecord {
  readonly id: Address;
  /** Unique: one address per transaction. */
  readonly transactionId: string;
  readonly accountId: string;
  readonly masterVersion: number;
  /** Mint and base units of what the caller is asked to deposit. */
  readonly mint: string;
  readonly amount: bigint;
  /** When the deposit window ends, on the chain's own clock. */
  readonly expiresAt: number;
  /** When it stopped waiting: funded, cancelled or over. */
  readonly waitEndedAt: number | null;
  /** Why nothing is signed for it until an operator has looked, null while nothing is wrong. */
  readonly heldReason: string | null;
  /** The end of the last gap in the lives of the database that the address was checked for, or vouched for; null for none. */
  readonly checkedTo: number | null;
  readonly createdAt: number;
  /** Grows with each change of the row: a payment is signed only while the row is as it was when the payment was looked at. */
  readonly version: number;
}

/** One on-chain transaction out of a deposit address that the service itself signs; its machine has the same id. */
export interface PaymentRecord {
  readonly id: string;
  readonly transactionId: string;
  /** The deposit address it pays from. */
  readonly address: Address;
  /** `plan` pays no one: it replaces a marker by the payments that take the place of what that marker stood for. */
  readonly kind: "payout" | "swap" | "plan" | "refund" | "sweep" | "collect";
  readonly status: "planned" | "broadcast" | "confirmed" | "finalized" | "failed";
  /** Names the payment within its address, such as `order`, `refund 1`. Which marker it makes stands in its plan. */
  readonly mark: string;
  readonly mint: string;
  readonly legs: readonly RecipientShare[];
  /** What the transaction does, as JSON text: rebuilt over a new blockhash for each attempt, otherwise unchanged. */
  readonly plan: string;
  /** That of the newest attempt. */
  readonly signature: string | null;
  readonly reason: string | null;
  readonly createdAt: number;
}

/**
 * One line in a deposit address's ledger. `deposit` and `loan` come in; `payout`, `refund`, `fee`, `dust` and
 * `repayment` go out. All lines of an address that has come to rest sum to zero, mint by mint, and equal the chain.
 */
export interface EntryRecord {
  readonly id: string;
  readonly address: string;
  readonly at: number;
  readonly kind: "deposit" | "loan" | "payout" | "refund" | "fee" | "dust" | "repayment";
  readonly mint: string;
  /** Base units; always above zero, the kind tells the direction. */
  readonly amount: bigint;
  /** The transaction that moved it, null for a deposit: those are seen from balances. */
  readonly signature: string | null;
}

/**
 * What an operator's word on a deposit address covers: the money that had come in when it was given, and nothing that
 * comes later. `id` is the address and the step of its chart that the word follows.
 */
export interface VouchingRecord {
  readonly id: string;
  readonly address: string;
  /** The step of the address's chart that it follows: the newest word has the highest. */
  readonly step: number;
  readonly at: number;
  /** Later transactions are not covered, whatever the amounts say; null for a word of an earlier version. */
  readonly slot: number | null;
  /** The transactions that had brought money, as far as the nodes listed them. */
  readonly signatures: readonly string[];
  /** Base units of all that had ever come in, as decimal strings, by mint. */
  readonly came: Readonly<Record<string, string>>;
  /** Where what was there goes, null for the sender. */
  readonly refundTo: Address | null;
  /** Base units that may go there, network costs included, as decimal strings, by mint; null for the sender. */
  readonly allowed: Readonly<Record<string, string>> | null;
}

/** A transaction that an address has signed and this database did not know of when a node listed it; `id` is its signature. */
export interface UnknownSignatureRecord {
  readonly id: string;
  readonly address: string;
}

/** A share of something limited (the sponsor's lamports, the desk's inventory) that is promised to one transaction. */
export interface ReservationRecord {
  readonly id: string;
  /** Guards that what has lapsed is not kept, and what was kept does not lapse. */
  readonly version: number;
  /** What is limited, such as `sponsor <address>`. */
  readonly resource: string;
  readonly amount: bigint;
  readonly createdAt: number;
  /** When others who need the room may release it; null while its owner is at work. */
  readonly lapsesAt: number | null;
  readonly releasedAt: number | null;
}

/** One set of signed bytes. `id` is its first signature; the message hash is unique too, as it is on the chain. */
export interface AttemptRecord {
  readonly id: string;
  readonly messageHash: string;
  readonly transactionId: string;
  readonly bytes: Uint8Array;
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
  /** No block of an earlier slot can hold it: a node whose ledger begins later does not know whether it landed. */
  readonly firstSlot: number;
  /** The key by which a transaction of our own making is listed besides its accounts, base58; null for others. */
  readonly reference: Address | null;
  readonly createdAt: number;
}

/** The stored answer of a request that carried an Idempotency-Key. `id` is a hash of account, method, path and key. */
export interface IdempotencyRecord {
  readonly id: string;
  /** SHA-256 of the raw request body, hex. */
  readonly fingerprint: string;
  /** The answer's body, byte for byte. */
  readonly answer: string;
  readonly createdAt: number;
}

/** One event for webhooks, as it was when it happened. */
export interface NoticeRecord {
  readonly id: string;
  readonly transactionId: string;
  readonly event: string;
  readonly status: TransactionStatus;
  readonly reason: string | null;
  readonly signature: string | null;
  readonly blockTime: number | null;
  /** Base units of the fee's asset. */
  readonly fee: bigint | null;
  /** What is sent, byte for byte, on every attempt; null until it was serialised, once. */
  readonly body: string | null;
  /** The webhooks that are told, by id: chosen with the body. Null until then, and in rows of before the field. */
  readonly webhooks: readonly string[] | null;
  readonly createdAt: number;
}

/**
 * Names a notice that was announced to webhooks, in its account's list of events. `id` is the notice's. The list grows at
 * its end only, so that who reads on from where he was misses nothing.
 */
export interface AnnouncementRecord {
  readonly id: string;
  readonly accountId: string;
  readonly at: number;
}

/**
 * Counts the changes of an account's webhooks, so that a commit can expect those that it has read. `id` is the account's; an
 * account that never had a webhook has no row.
 */
export interface WebhookListRecord {
  readonly id: string;
  readonly version: number;
  readonly changedAt: number;
}

export interface WebhookRecord {
  readonly id: string;
  readonly version: number;
  readonly accountId: string;
  readonly url: string;
  readonly events: readonly string[];
  /** The sealed secret, null when the webhook has none. */
  readonly sealedSecret: string | null;
  /** The secret before it, and until when deliveries are signed with that one, too. */
  readonly previousSealedSecret: string | null;
  readonly previousUntil: number | null;
  /** Since when nothing is delivered to it, and why; null while it is enabled. */
  readonly disabledAt: number | null;
  readonly disabledReason: string | null;
  /** Since when it is enabled, or was last: what was abandoned before does not count against it. */
  readonly enabledAt: number;
  readonly createdAt: number;
  readonly deletedAt: number | null;
}

/** One notice on its way to one webhook; its machine's state is its instance of the same id. */
export interface DeliveryRecord {
  readonly id: string;
  readonly accountId: string;
  readonly webhookId: string;
  readonly noticeId: string;
  readonly transactionId: string;
  readonly status: "pending" | "delivered" | "abandoned" | "dropped";
  /** Attempts that have ended. */
  readonly attempts: number;
  /** How often it was begun: once, and once more with each redelivery. */
  readonly runs: number;
  /** When it was last delivered, and when last abandoned; a redelivery keeps both. Null while that has not happened. */
  readonly deliveredAt: number | null;
  readonly abandonedAt: number | null;
  readonly createdAt: number;
}

/** One ended attempt of a delivery. `id` is `deliveryId:number`, or `deliveryId:crashed:n` of one whose process died. */
export interface DeliveryAttemptRecord {
  readonly id: string;
  readonly deliveryId: string;
  readonly number: number;
  readonly startedAt: number;
  /** Until the answer was read, or the attempt had failed. */
  readonly durationMs: number;
  /** Milliseconds of each stage of opening its connection; null where a kept one served it, and where none was opened. */
  readonly opening: { readonly dns: number; readonly connect: number; readonly tls: number } | null;
  /** Milliseconds from the attempt's start to the answer's status line; null when none came. */
  readonly firstByteMs: number | null;
  readonly httpStatus: number | null;
  readonly error: string | null;
  readonly excerpt: string | null;
}

/** One counted request in a sliding window that all processes on a database share. */
export interface LimitHitRecord {
  readonly id: string;
  readonly accountId: string;
  readonly scope: string;
  readonly at: number;
}

/** What a purse of the service's own has spent at one time: one row per set of signed bytes that spends it. */
export interface SpendingRecord {
  readonly id: string;
  /** Whose money of which kind it is, in the words of the reservations' `resource`. */
  readonly purse: string;
  /** Base units that landing costs for good. They count from the signature on, whether it lands or not. */
  readonly amount: bigint;
  readonly at: number;
}

/** What an operator has set for what is newly taken: for every account (`service`), or for one (`account <id>`). */
export interface GateRecord {
  readonly id: string;
  /** A commit that takes something expects the version that it has read the rules of. */
  readonly version: number;
  /** Pauses, suspension and limits, as JSON text. */
  readonly rules: string;
}

/** An amount that was taken for an account, counted against the operator's limit on a day. */
export interface VolumeRecord {
  readonly id: string;
  /** Whose amount, of which asset, and whether it is given or got. */
  readonly scope: string;
  readonly at: number;
  readonly amount: bigint;
}

/** A matter that needs a person, as far as it has been reported. `id` is the matter's. */
export interface MatterRecord {
  readonly id: string;
  readonly version: number;
  readonly kind: string;
  /** `waiting`: it needs a person. `ending`: it is over, which has not been reported yet. `over`: that was reported, too. */
  readonly state: "waiting" | "ending" | "over";
  readonly transactionId: string | null;
  readonly accountId: string | null;
  readonly message: string;
  /** When it was first seen. */
  readonly since: number;
  /** When its beginning was reported; null while it was not. */
  readonly toldAt: number | null;
  /** Until then one process is telling it, and others leave it alone. */
  readonly tellingUntil: number | null;
  /** When a process last said that it sees what others cannot; null for what every process finds. */
  readonly seenAt: number | null;
}

/** What operators have decided about a matter. `id` is the matter's; a decision expects the version that it has read. */
export interface DecisionRecord {
  readonly id: string;
  readonly version: number;
  /** An action that waits for a second person, as JSON text. */
  readonly proposal: string | null;
  readonly decidedAt: number;
}

/** One act of an operator. Rows are only added, never changed. */
export interface AuditRecord {
  readonly id: string;
  readonly at: number;
  /** Who acted, and why, in the operator's own words. */
  readonly actor: string;
  readonly reason: string;
  /** Which act it was, such as `pause`. */
  readonly act: string;
  /** What exactly was done, as JSON text. Holds no secret. */
  readonly what: string;
}

/** Every table of the payment service and the record it holds. */
export interface PaymentTables {
  facts: FactRecord;
  lives: LifeRecord;
  accounts: AccountRecord;
  apiKeys: ApiKeyRecord;
  quotes: QuoteRecord;
  transactions: TransactionRecord;
  recipients: RecipientRecord;
  deposits: DepositRecord;
  payments: PaymentRecord;
  entries: EntryRecord;
  vouchings: VouchingRecord;
  unknownSignatures: UnknownSignatureRecord;
  reservations: ReservationRecord;
  attempts: AttemptRecord;
  idempotency: IdempotencyRecord;
  notices: NoticeRecord;
  announcements: AnnouncementRecord;
  webhooks: WebhookRecord;
  webhookLists: WebhookListRecord;
  deliveries: DeliveryRecord;
  deliveryAttempts: DeliveryAttemptRecord;
  limitHits: LimitHitRecord;

  spendings: SpendingRecord;
  gates: GateRecord;
  volumes: VolumeRecord;
  matters: MatterRecord;
  decisions: DecisionRecord;
  audit: AuditRecord;
}

/** The name of a payment table. */
export type TableName = keyof PaymentTables;
