/** Checks amounts against the operator's limits: per transaction, and per account within a sliding day. */
import type { QuoteRecord } from "../tables/orders.ts";
import type { FrameStorage, FrameWrite } from "../frame-storage.ts";
import { formatAmount } from "../../../core/amount.ts";
import { agingTime } from "../../../core/clock-trust.ts";
import { PaymentError } from "../../../errors/errors.ts";
import type { Clock } from "../../../core/runtime.ts";
import type { Assets } from "../assets/assets.ts";
import type { IntakeResult } from "./intake-check.ts";
import type { Direction } from "./rules.ts";

const DAY_SECONDS = 86_400;

type Amounts = Pick<QuoteRecord, "accountId" | "inputMint" | "outputMint" | "inputAmount" | "outputAmount">;

interface Counted {
  readonly mint: string;
  readonly direction: Direction;
  readonly amount: bigint;
}

interface AmountLimitCheckParts {
  readonly storage: Pick<FrameStorage, "volume">;
  readonly clock: Clock;
  readonly assets: Assets;
}

/** The limits of an admission, applied to the amounts of a quote. */
export class AmountLimitCheck {
  readonly #storage: AmountLimitCheckParts["storage"];
  readonly #clock: Clock;
  readonly #assets: Assets;

  constructor({ storage, clock, assets }: AmountLimitCheckParts) {
    this.#storage = storage;
    this.#clock = clock;
    this.#assets = assets;
  }

  /** Throws `AMOUNT_TOO_LARGE` for more than a single transaction may move. */
  refuseTooLarge({ rules }: IntakeResult, amounts: Amounts): void {
    for (const counted of countedOf(amounts)) {
      const maximum = limitOf(rules, counted, "perTransaction");
      if (maximum === null || counted.amount <= maximum) continue;
      const { decimals } = this.#assets.named(counted.mint);
      throw new PaymentError("AMOUNT_TOO_LARGE", { maximum: formatAmount(maximum, decimals) });
    }
  }

  /**
   * Like `refuseTooLarge`; also throws `VOLUME_LIMIT_EXCEEDED` for more than the rest of the account's day. Only
   * `volumes` in the commit is exact; this check explains a refused commit.
   */
  async check(admission: IntakeResult, amounts: Amounts): Promise<void> {
    this.refuseTooLarge(admission, amounts);
    for (const counted of countedOf(amounts)) {
      const limit = limitOf(admission.rules, counted, "perDay");
      if (limit === null) continue;
      const used = await this.#storage.volume(scopeOf(amounts.accountId, counted), this.#windowStart());
      if (used + counted.amount <= limit) continue;
      const { symbol, decimals } = this.#assets.named(counted.mint);
      throw new PaymentError("VOLUME_LIMIT_EXCEEDED", {
        asset: symbol,
        limit: formatAmount(limit, decimals),
        used: formatAmount(used, decimals),
        windowSeconds: DAY_SECONDS,
      });
    }
  }

  /**
   * Counts the amounts in the commit that takes the transaction, and refuses the commit when the daily limit has no
   * room: of concurrent transactions exactly as many are accepted as fit. Amounts are counted even without a limit, so
   * that a limit set later includes the day before.
   */
  volumes({ rules }: IntakeResult, transactionId: string, amounts: Amounts): readonly FrameWrite[] {
    return countedOf(amounts).map((counted) => ({
      table: "volumes",
      insert: {
        id: volumeId(transactionId, counted.direction),
        scope: scopeOf(amounts.accountId, counted),
        at: this.#clock.now(),
        amount: counted.amount,
      },
      atMost: { total: limitOf(rules, counted, "perDay"), since: this.#windowStart() },
    }));
  }

  #windowStart(): number {
    return agingTime(this.#clock) - DAY_SECONDS * 1_000;
  }
}

/** Gives a transaction's amounts back to the day, for the commit that cancels it. */
export async function returnedVolumes(
  storage: Pick<FrameStorage, "volumes">,
  transactionId: string,
): Promise<readonly FrameWrite[]> {
  const rows = await storage.volumes([volumeId(transactionId, "in"), volumeId(transactionId, "out")]);
  return rows.map(({ id }) => ({ table: "volumes", id, set: { amount: 0n } }));
}

function volumeId(transactionId: string, direction: Counted["direction"]): string {
  return `${transactionId}:${direction}`;
}

/**
 * The amounts given and received. Fees are not counted: for a send within one asset the given amount equals what
 * recipients receive.
 */
function countedOf({ inputMint, outputMint, inputAmount, outputAmount }: Amounts): readonly Counted[] {
  const given = inputMint === outputMint ? outputAmount : inputAmount;
  return [
    { mint: inputMint, direction: "in", amount: given },
    { mint: outputMint, direction: "out", amount: outputAmount },
  ];
}

/** The account's own limit, else the limit of all accounts. */
function limitOf(
  rules: IntakeResult["rules"],
  { mint, direction }: Counted,
  field: "perTransaction" | "perDay",
): bigint | null {
  for (const { limits } of rules) {
    const limit = limits.find((each) => each.mint === mint && each.direction === direction);
    const amount = limit?.[field] ?? null;
    if (amount !== null) return BigInt(amount);
  }
  return null;
}

function scopeOf(accountId: string, { mint, direction }: Counted): string {
  return `${accountId} ${mint} ${direction}`;
}
