/** Options of private mode, and their checks. */
import { z } from "zod";
import { addressSchema } from "../../core/address-schema.ts";
import { parseAmount } from "../../core/amount.ts";
import { functionOption, objectWith, optionsWith } from "../../core/options.ts";
import { signerOption } from "../frame/asked-signer.ts";
import { priceBoundsOption } from "../frame/prices/guarded-prices.ts";
import type { PriceSource } from "../frame/prices/prices.ts";
import type { ScreenAddress } from "../frame/recipients/recipients.ts";
import type { MasterSecret } from "../frame/secrets/secret-box.ts";
import type { RecoveryJournal } from "./recovery/journal.ts";

const SOL_DECIMALS = 9;

/** A decimal string in whole SOL, read as lamports. */
const solAmount = z.string().transform((text, context): bigint => {
  const read = parseAmount(text, SOL_DECIMALS);
  if ("amount" in read) return read.amount;
  const message = 'expected an amount of SOL above zero as a decimal string, such as "2.5"';
  context.addIssue({ code: "custom", message });
  return z.NEVER;
});

export const privateRoutingOptions = optionsWith({
  /**
   * Pays network fees and rent, such as `keypairSigner(secretKey)`. Keep SOL in this wallet: private mode needs no
   * other asset.
   */
  sponsor: signerOption,
  /** Receives the fees: a wallet that exists, since small change may go to it. */
  treasury: addressSchema("expected a wallet address"),
  /** The price of SOL in the stablecoins; see `PriceSource`. */
  prices: objectWith<PriceSource>(["rate"], "a price source: { rate(giveMint, getMint) }"),
  /** Bounds on believable prices; see `PriceBounds`. */
  priceBounds: priceBoundsOption.prefault({}),
  /** Routing fee in hundredths of a percent of what the recipients get, 0 to 1,000. Default 30. */
  feeBps: z.number().int().min(0).max(1_000).default(30),
  /** The time for which an order waits for its deposit, in milliseconds. Default 30 minutes. */
  depositWindowMs: z.number().int().min(60_000).max(86_400_000).default(1_800_000),
  /**
   * The most that the sponsor spends within any 24 hours, in SOL as a decimal string, such as `"2.5"`: signed network
   * fees, rent of markers and of others' accounts, loans, and the possible such costs of open orders. At the limit new private orders are answered ROUTING_UNAVAILABLE capacity; what is under way goes on.
   * Default: no limit.
   */
  maxSponsorSpendPerDay: solAmount.optional(),
  /**
   * The most that bids above what customers pay may be within any 24 hours, in SOL as a decimal string; attempts that can land no
   * more do not count. A customer pays for the estimate of the quote and one raise, each four times the bid before; a later bid is at the ceiling of `solanaLedger({ fees })`, and
   * above the estimate that ceiling is the operator's cost. At the limit such transactions bid no more than customers pay.
   * Default: `"0.1"`.
   */
  maxRaisedBidsPerDay: solAmount.default(100_000_000n),
  /**
   * When the sponsor has less than this that is not reserved, in SOL as a decimal string, it is an operator's matter
   * (`low_purse`). Default: what fifty sends at once may take.
   */
  lowBalance: solAmount.optional(),
  /** Most recipients of a private payroll, 2 to 500. Default 100. */
  maxRecipients: z.number().int().min(2).max(500).default(100),
  /**
   * The most lamports of rent a byte at which an order is taken: each order buys small accounts that stay. Above it private
   * requests are answered ROUTING_UNAVAILABLE upstream. Default 20,880, three times the rent of 2026.
   */
  maxRentPerByte: z.bigint().min(1n).default(20_880n),
  /**
   * Screens addresses: asked about sender and recipients when a quote names them and before an order is taken, where an
   * answer is kept for ten minutes; about sender and all payers before money is paid out or back; and about recipients again
   * before they are paid. A refusal at first is INVALID_RECIPIENT, of the sender VALIDATION_ERROR, with the reason
   * `not_served`; after a deposit it holds the money until an operator decides. Payers are read from how balances changed in the
   * transactions that nodes list, by amount: money whose payer has no name (newly minted, paid out of a program's
   * account or out of an account that another key closed) is held too, from the smallest deposit on. It is an attribution and
   * no proof. Default: everybody is served.
   */
  screen: functionOption<ScreenAddress>().optional(),
});

/** Options of private mode: wallets, prices and fees. @interface */
export type PrivateRoutingOptions = z.input<typeof privateRoutingOptions>;

/** Checks the option `recovery`. */
export const recoveryOption = objectWith<RecoveryJournal>(
  ["write", "endOf", "read"],
  "a recovery journal: { write, endOf, read }, such as recoveryFile(path)",
);

/** The options that private mode takes of the service's, checked. */
export interface PrivateOptions {
  /** Absent while private mode is off. */
  readonly privateRouting?: z.output<typeof privateRoutingOptions> | undefined;
  /** Absent where nothing is written down. */
  readonly recovery?: RecoveryJournal | undefined;
  readonly masterSecrets: readonly MasterSecret[];
  readonly ledgerPollMs: number;
  readonly approvals: 1 | 2;
}
