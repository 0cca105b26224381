/** Options of a payment service, and their checks. */
import { z } from "zod";
import type { EngineStorage } from "../../storage/storage.ts";
import { SOL_MINT } from "../core/address.ts";
import { addressSchema } from "../core/address-schema.ts";
import type { Archive } from "../engine/index.ts";
import { ARCHIVE_DEADLINE_MS } from "../engine/retention/archiving.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { functionOption, objectWith, optionsWith, runtimeOptions } from "../core/options.ts";
import { MAINNET_STABLECOINS } from "../payments/frame/assets/assets.ts";
import type { AttentionListener } from "../payments/operator/attention/matter-report-loop.ts";
import { privateRoutingOptions, recoveryOption } from "../payments/private/private-routing-options.ts";
import { PART_DEADLINE_MS } from "../payments/frame/host-parts.ts";
import type { ArchivedRow } from "../payments/frame/retention/removal.ts";
import { keepOption, type CheckedKeepOptions, type KeepOptions } from "../payments/frame/retention/keep.ts";
import type { MasterSecret } from "../payments/frame/secrets/secret-box.ts";
import type { SwapProvider } from "../payments/frame/exchange/swap-provider.ts";
import { webhookOptions } from "../payments/webhooks/webhook-options.ts";

const stablecoin = addressSchema("expected a mint address").refine((mint) => mint !== SOL_MINT, {
  error: "expected the mint of a stablecoin, found that of SOL",
});

const masterSecret: z.ZodType<MasterSecret, MasterSecret> = z.strictObject({
  version: z.number().int().min(1),
  secret: z
    .custom<Uint8Array>((value) => value instanceof Uint8Array, { error: "expected a Uint8Array" })
    .refine((bytes) => bytes.length >= 32, { error: "expected 32 bytes or more" }),
});

const keep: z.ZodType<CheckedKeepOptions, KeepOptions> = keepOption;

/** Checks `PaymentServiceOptions` and fills in the defaults. */
export const paymentServiceOptions = optionsWith({
  /** The storage of everything, such as `await sqliteStorage("payments.db")`. The service does not close it. */
  storage: objectWith<EngineStorage>(
    ["commit", "claim", "install"],
    'a storage, such as await sqliteStorage("payments.db")',
  ),
  /** The chain, such as `solanaLedger({ endpoints: ["https://…"] })`. The service does not close it. */
  ledger: objectWith<Ledger>(
    ["verifyPayment", "broadcast", "look"],
    'a ledger, such as solanaLedger({ endpoints: ["https://…"] })',
  ),
  /** Seals what must not be read from a stolen database. The first version seals, all of them open. 32 bytes each. */
  masterSecrets: z
    .array(masterSecret)
    .min(1, { error: "expected at least one master secret" })
    .refine((all) => new Set(all.map(({ version }) => version)).size === all.length, {
      error: "each version names one secret",
    })
    .readonly(),
  /**
   * The environment of the keys that are accepted before the chain is known: `"live"` on mainnet, else `"test"`. `start()`
   * compares it with the chain. Default: that of the database's chain; a new database accepts no key before its start.
   */
  environment: z.enum(["live", "test"]).optional(),
  /**
   * The mints of USDC and USDT on this chain, of the Token program, with 6 decimals each: compared with the chain by
   * `start()`. Default: mainnet's.
   */
  stablecoins: optionsWith({ USDC: stablecoin, USDT: stablecoin })
    .refine(({ USDC, USDT }) => USDC !== USDT, {
      path: ["USDT"],
      error: "expected another mint than that of USDC",
    })
    .default(MAINNET_STABLECOINS),
  /**
   * The time in which a caller may still cancel a wallet transaction, in milliseconds; the transaction is sent only
   * afterwards. It gives whoever swaps a free option. Default 0.
   */
  broadcastDelayMs: z.number().int().min(0).max(20_000).default(0),
  /** Pause between two looks at the chain while anything is under way, in milliseconds. Default 1,000. */
  ledgerPollMs: z.number().int().min(50).max(60_000).default(1_000),
  /**
   * How long the work of a process that vanished waits until another one, or the next start, takes it over, in
   * milliseconds. Keep it far below the minute in which a signed transaction expires. Default 15,000.
   */
  leaseMs: z.number().int().min(1_000).max(30_000).default(15_000),
  /**
   * Turns private mode on. Without it private requests are answered ROUTING_UNAVAILABLE off, and orders that are open wait
   * until it is on again.
   */
  privateRouting: privateRoutingOptions.optional(), // modules: private
  /** Turns swaps on. Without it quotes between different assets are answered ROUTING_UNAVAILABLE off. */
  swap: optionsWith({
    /** The swap provider, such as `deskProvider({ desk: keypairSigner(secretKey), prices })`. */
    provider: objectWith<SwapProvider>(
      ["connect"],
      "a swap provider, such as deskProvider({ desk: keypairSigner(secretKey), prices })",
    ),
    /**
     * When the provider's own wallet has less of an asset than this that is not promised; decimal strings by symbol, such as
     * `{ SOL: "10" }`, it is an operator's matter (`low_purse`). Default: ten times the smallest swap of each.
     */
    lowBalance: z.record(z.string(), z.string()).default({}),
  }).optional(),
  webhooks: webhookOptions.prefault({}), // modules: webhooks
  /** Called for each matter that needs a person, once when it begins and once when it is over; see `AttentionListener`. */
  onAttention: functionOption<AttentionListener>().optional(),
  /**
   * The deadline of `onAttention`, in milliseconds, 1,000 to 60,000; after a missed deadline it is called again later.
   * Default 10,000.
   */
  onAttentionDeadlineMs: z.number().int().min(1_000).max(60_000).default(PART_DEADLINE_MS),
  /**
   * Keeps each private order before its deposit address is handed out, and each end that no marker on the chain tells, so that
   * a lost database loses no address, and one that was set back tells nothing else: see `RecoveryJournal`, `recoveryFile` and
   * `service.operator.recover`. Default: nothing is written down.
   */
  recovery: recoveryOption.optional(), // modules: private
  /**
   * How long a signer, a price source and `screen` may take for an answer, in milliseconds, 1,000 to 60,000; a price source
   * never longer than 5,000, since callers wait for it. Then the call is given up and made again with pauses, only what
   * needs it waits, and it is a matter (`silent_part`). Default 10,000.
   */
  partDeadlineMs: z.number().int().min(1_000).max(60_000).default(PART_DEADLINE_MS),
  /**
   * How many people it takes to send held money to another address than the sender's: with 2, a request by `refundTo`
   * or `operator.returnTokens` is carried out once a second person confirms it by `approve`. Default 1.
   */
  approvals: z.union([z.literal(1), z.literal(2)]).default(1),
  /**
   * How long what is over is kept, such as `{ transactions: "400d", notices: "90d", quotes: "7d" }`; see `KeepOptions`. Default: all
   * but idempotency answers, which go after 30 days, is kept as long as the database.
   */
  keep: keep.prefault({}),
  /**
   * Gets the rows that are about to be removed, and must have put them somewhere when it resolves. Called at least once for
   * each: again after a crash. While it throws, or takes longer than `archiveDeadlineMs`, nothing is removed; that is logged once, and
   * stands in `health().retention.error`. Default: they are gone.
   */
  archive: functionOption<Archive<ArchivedRow>>().optional(),
  /** The deadline of `archive` for up to 32 transactions, in milliseconds, 1,000 to 600,000. Default 60,000. */
  archiveDeadlineMs: z.number().int().min(1_000).max(600_000).default(ARCHIVE_DEADLINE_MS),
  /** Default: the machine's own clock. */
  clock: runtimeOptions.clock,
  /** Default: the operating system's. */
  random: runtimeOptions.random,
  /** Anything with pino's argument order. Default: warnings and errors go to stderr, the rest nowhere. */
  logger: runtimeOptions.logger,
});

/** Options of `createPaymentService`. Storage, ledger and secrets have no hidden default. @interface */
export type PaymentServiceOptions = z.input<typeof paymentServiceOptions>;
