/** A desk that is connected to a chain: what it offers, and what it signs. */
import { TOKEN_ACCOUNT_BYTES } from "../../../ledger/routing.ts";
import { formatAmount } from "../../../core/amount.ts";
import { PaymentError } from "../../../errors/errors.ts";
import { signTransaction, type Signer } from "../../../ledger/sign-transaction.ts";
import { ledgerMint, MAINNET_GENESIS, type Token } from "../../frame/assets/assets.ts";
import { DAY_MS, deskPurse, inADay } from "../../frame/spending.ts";
import { StartRefused } from "../../frame/secrets/bind-database.ts";
import { warnOfUnusableAccounts } from "../../frame/assets/check-mints.ts";
import { type PriceSource, refuseFixedPrices } from "../../frame/prices/prices.ts";
import { constantProduct, lessSpread, priceImpact, walletMoves, warnOfShortage } from "./desk-terms.ts";
import { deskInventory } from "../../frame/purses/desk-inventory.ts";
import type {
  BuiltSwap,
  SwapOffer,
  Swapper,
  OfferedSwap,
  ReservedAmountLookup,
  ProviderContext,
  SenderSignedSwap,
  WalletSwap,
  WantedSwap,
  WantedReservation,
} from "../../frame/exchange/swap-provider.ts";

interface DeskTerms {
  readonly desk: Signer;
  /** Null where the inventory makes the price. */
  readonly prices: PriceSource | null;
  readonly spreadBps: number;
  readonly maxDriftBps: number;
  /** Base units by mint. */
  readonly maxGivenPerDay: ReadonlyMap<string, bigint>;
}

/** The part of the desk's balance that an account may have in open quotes and swaps under way: a tenth. */
const ACCOUNT_SHARE = 10n;
const BPS = 10_000n;

/** Both sides of one swap. */
interface Inventory {
  readonly give: bigint;
  readonly get: bigint;
  /** Amounts that open quotes and swaps under way will bring (`give`) and take (`get`). */
  readonly expected: bigint;
  readonly promised: bigint;
}

/** The limits on one offer, in base units of the asset to get. */
interface Room {
  readonly inventory: Inventory;
  /** The most that an account may have open, and the amount that this account has open. */
  readonly share: bigint;
  readonly toOne: bigint;
  /** The limit on amounts given within 24 hours, null without a limit, and the amount used so far. */
  readonly mostPerDay: bigint | null;
  readonly givenToday: bigint;
}

/** See `Swapper`, whose methods these are. */
export class DeskSwapper {
  readonly direct: NonNullable<Swapper["direct"]>;
  readonly #terms: DeskTerms;
  readonly #surroundings: ProviderContext;
  readonly #name: string;
  /** Assets that the desk is known to have a token account for; only the operator closes those. */
  readonly #taken = new Set<string>();

  constructor(terms: DeskTerms, surroundings: ProviderContext) {
    const { desk } = terms;
    this.#terms = terms;
    this.#surroundings = surroundings;
    this.#name = `desk ${desk.address}`;
    this.direct = { signer: desk };
  }

  async check(genesisHash: string): Promise<void> {
    const { prices } = this.#terms;
    if (genesisHash === MAINNET_GENESIS && prices === null) {
      throw new StartRefused(
        "deskProvider: without `prices` the desk's inventory makes the price, which is for local chains: " +
          "on mainnet give it a price source",
      );
    }
    refuseFixedPrices(genesisHash, prices, "deskProvider: prices");
  }

  get unlimited(): readonly string[] {
    const { maxGivenPerDay } = this.#terms;
    return this.#surroundings.tokens.flatMap(({ mint, symbol }) =>
      maxGivenPerDay.has(mint) ? [] : [symbol],
    );
  }

  async warn(): Promise<void> {
    const { desk } = this.#terms;
    const { ledger, tokens, log } = this.#surroundings;
    await warnOfShortage({ ledger, log }, desk.address, tokens);
    await warnOfUnusableAccounts({ ledger, log, assets: tokens }, desk.address, "desk");
  }

  queueOf(): string | null {
    return this.#terms.prices === null ? this.#name : null;
  }

  async offer(wanted: WantedSwap, promised: ReservedAmountLookup): Promise<SwapOffer> {
    const { get } = wanted;
    const [room, canBeTaken] = await Promise.all([
      this.#roomFor(wanted, promised),
      this.#canTake(wanted.give),
    ]);
    const price = await this.#price(wanted, room.inventory);
    const { outputAmount } = price;
    const available = canBeTaken ? availableIn(room) : 0n;
    if (outputAmount <= 0n || outputAmount > available) {
      const shown = available > 0n ? available : 0n;
      throw new PaymentError("INSUFFICIENT_LIQUIDITY", { available: formatAmount(shown, get.decimals) });
    }
    return { ...price, reservations: this.#reservations(wanted, outputAmount, room) };
  }

  async isStillGood({ give, get, inputAmount, outputAmount }: OfferedSwap): Promise<boolean> {
    const { prices, maxDriftBps } = this.#terms;
    if (prices === null) return true;
    const now = await this.#atMarket(prices, { give, get, amount: inputAmount });
    return now * BPS >= outputAmount * (BPS - BigInt(maxDriftBps));
  }

  async build(swap: WalletSwap): Promise<BuiltSwap> {
    const { sender, get } = swap;
    const { ledger } = this.#surroundings;
    const mint = ledgerMint(get);
    const plan = { feePayer: sender, moves: walletMoves(this.#terms.desk.address, swap) };
    const [unsigned, states] = await Promise.all([
      ledger.buildTransaction(plan, { from: "estimate" }),
      mint === null ? [] : ledger.tokenAccountStates([{ owner: sender, mint }]),
    ]);
    const rent = states[0] === "absent" ? await ledger.rentMinimum(TOKEN_ACCOUNT_BYTES) : 0n;
    return { unsigned, plan, rent, ticket: null };
  }

  async complete({ unsigned, sender, signature }: SenderSignedSwap): Promise<Uint8Array> {
    return (await signTransaction(unsigned, [this.#terms.desk], new Map([[sender, signature]]))).bytes;
  }

  async #canTake(asset: Token): Promise<boolean> {
    const mint = ledgerMint(asset);
    if (mint === null || this.#taken.has(mint)) return true;
    const { ledger } = this.#surroundings;
    const [state] = await ledger.tokenAccountStates([{ owner: this.#terms.desk.address, mint }]);
    if (state !== "absent") this.#taken.add(mint);
    return state !== "absent";
  }

  #gives(get: Token): string {
    return deskPurse(this.#terms.desk.address, get.mint);
  }

  #takes(give: Token): string {
    return `${this.#name} takes ${give.mint}`;
  }

  #givesOne({ get, accountId }: WantedSwap): string {
    return `${this.#gives(get)} to ${accountId}`;
  }

  #givesInADay(get: Token): string {
    return inADay(this.#gives(get));
  }

  async #roomFor(wanted: WantedSwap, promised: ReservedAmountLookup): Promise<Room> {
    const { give, get } = wanted;
    const mostPerDay = this.#terms.maxGivenPerDay.get(get.mint) ?? null;
    const [held, toAll, fromAll, toOne, givenToday] = await Promise.all([
      deskInventory(this.#surroundings.ledger, this.#terms.desk.address, [give, get]),
      promised(this.#gives(get)),
      promised(this.#takes(give)),
      promised(this.#givesOne(wanted)),
      mostPerDay === null ? 0n : promised(this.#givesInADay(get)),
    ]);
    const [giveHeld = 0n, getHeld = 0n] = held;
    return {
      inventory: { give: giveHeld, get: getHeld, expected: fromAll, promised: toAll },
      // Otherwise one account could use up a small limit with quotes that cost nothing.
      share: (mostPerDay === null ? getHeld : least(getHeld, mostPerDay)) / ACCOUNT_SHARE,
      toOne,
      mostPerDay,
      givenToday,
    };
  }

  /**
   * Promised payments count as paid, and expected payments as received, if that makes the price worse; changes that
   * would make the price better do not count yet.
   */
  async #price(
    wanted: WantedSwap,
    inventory: Inventory,
  ): Promise<Pick<SwapOffer, "outputAmount" | "priceImpact">> {
    const { prices, spreadBps } = this.#terms;
    const { amount } = wanted;
    if (prices !== null) return { outputAmount: await this.#atMarket(prices, wanted), priceImpact: 0 };
    const kept = lessSpread(amount, spreadBps);
    const reserves = { give: inventory.give + inventory.expected, get: inventory.get - inventory.promised };
    return { outputAmount: constantProduct(kept, reserves), priceImpact: priceImpact(amount, reserves) };
  }

  /** Rounded down. */
  async #atMarket(
    prices: PriceSource,
    { give, get, amount }: Pick<WantedSwap, "give" | "get" | "amount">,
  ): Promise<bigint> {
    const rate = await prices.rate(give.mint, get.mint);
    return (lessSpread(amount, this.#terms.spreadBps) * rate.get) / rate.give;
  }

  #reservations(
    wanted: WantedSwap,
    outputAmount: bigint,
    { inventory, share, mostPerDay }: Room,
  ): readonly WantedReservation[] {
    const { give, get, amount } = wanted;
    const ofGiven = { resource: this.#gives(get), amount: outputAmount };
    const ofTaken = { resource: this.#takes(give), amount };
    const ofOne = { resource: this.#givesOne(wanted), amount: outputAmount, most: share };
    const ofDay =
      mostPerDay === null
        ? []
        : [{ resource: this.#givesInADay(get), amount: outputAmount, most: mostPerDay, countsForMs: DAY_MS }];
    if (this.#terms.prices !== null) return [{ ...ofGiven, most: inventory.get }, ofOne, ...ofDay];
    // A price made of what is promised holds only if nothing more has been promised meanwhile.
    return [
      { ...ofGiven, most: inventory.promised + outputAmount },
      { ...ofTaken, most: inventory.expected + amount },
      ofOne,
      ...ofDay,
    ];
  }
}

function availableIn({ inventory, share, toOne, mostPerDay, givenToday }: Room): bigint {
  const open = least(inventory.get - inventory.promised, share - toOne);
  return mostPerDay === null ? open : least(open, mostPerDay - givenToday);
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
