/** The default swap provider: a desk that trades out of the operator's own inventory, at a price it is told. */
import { TOKEN_ACCOUNT_BYTES } from "../../ledger/routing.ts";
import { z } from "zod";
import { formatAmount } from "../../amount.ts";
import { PaymentError } from "../../errors.ts";
import { signTransaction } from "../../ledger/sign-transaction.ts";
import type { Signer } from "../../ledger/sign-transaction.ts";
import { checkOptions, objectWith } from "../../options.ts";
import { ledgerMint, MAINNET_GENESIS } from "../assets.ts";
import type { Token } from "../assets.ts";
import { StartRefused } from "../bind-database.ts";
import type { PriceSource } from "../private/prices.ts";
import { constantProduct, lessSpread, priceImpact } from "./constant-product.ts";
import { deskInventory, warnOfShortage } from "./desk-inventory.ts";
import { directMoves, walletMoves } from "./desk-moves.ts";
import type {
  ExchangeOffer,
  Exchanger,
  Promised,
  ProviderSurroundings,
  SwapProvider,
  WantedExchange,
} from "./swap-provider.ts";

/** How a desk trades. */
export interface DeskOptions {
  /**
   * Holds the inventory and signs for it, such as `keypairSigner(secretKey)`. Keep all assets on it that it is to give,
   * and a token account, empty or not, for each that it is to take. It pays no fees and no rent.
   */
  readonly desk: Signer;
  /**
   * What the assets are worth. Left out, the desk's own inventory makes the price (constant product), which is for local
   * chains and refused on mainnet: whoever moves such a price also trades at it.
   */
  readonly prices?: PriceSource;
  /** What the desk keeps of each exchange, in hundredths of a percent, 0 to 1,000. Default 30. */
  readonly spreadBps?: number;
}

const deskOptions = z.strictObject({
  desk: objectWith<Signer>(["sign"], "a signer, such as keypairSigner(secretKey)"),
  prices: objectWith<PriceSource>(["rate"], "a price source: { rate(giveMint, getMint) }").optional(),
  spreadBps: z.number().int().min(0).max(1_000).default(30),
});

/** What one account may have in open quotes and swaps under way: a tenth of the inventory (CONTRACT, SOLANA "Swap"). */
const ACCOUNT_SHARE = 10n;

/**
 * A desk. In wallet mode it signs exactly the transaction that it built, in private mode one leg of the service's own; in
 * both it gives only together with what it gets. Throws `InvalidOptions`.
 */
export function deskProvider(options: DeskOptions): SwapProvider {
  const { desk, prices, spreadBps } = checkOptions("deskProvider", deskOptions, options);
  return {
    name: "desk",
    connect: (surroundings) => deskAtWork({ desk, prices, spreadBps }, surroundings),
  };
}

function deskAtWork(
  {
    desk,
    prices,
    spreadBps,
  }: { readonly desk: Signer; readonly prices: PriceSource | undefined; readonly spreadBps: number },
  { ledger, tokens, log }: ProviderSurroundings,
): Exchanger {
  const { address } = desk;
  const name = `desk ${address}`;
  /** Assets that the desk is known to have a token account for; nobody closes those but the operator. */
  const taken = new Set<string>();

  const canTake = async (asset: Token): Promise<boolean> => {
    const mint = ledgerMint(asset);
    if (mint === null || taken.has(mint)) return true;
    const [hasAccount] = await ledger.haveTokenAccounts([address], mint);
    if (hasAccount === true) taken.add(mint);
    return hasAccount === true;
  };

  /**
   * What is promised and not paid yet is looked at as if it were paid, and what is expected as if it had come, where that
   * makes the price worse; where it would make it better it has not happened yet.
   */
  const priced = async (
    { give, get, amount }: WantedExchange,
    inventory: Inventory,
  ): Promise<Pick<ExchangeOffer, "outputAmount" | "priceImpact">> => {
    const kept = lessSpread(amount, spreadBps);
    if (prices === undefined) {
      const reserves = { give: inventory.give + inventory.expected, get: inventory.get - inventory.promised };
      return { outputAmount: constantProduct(kept, reserves), priceImpact: priceImpact(amount, reserves) };
    }
    const rate = await prices.rate(give.mint, get.mint);
    return { outputAmount: (kept * rate.get) / rate.give, priceImpact: 0 };
  };

  const offer = async (wanted: WantedExchange, promised: Promised): Promise<ExchangeOffer> => {
    const { give, get, amount, accountId } = wanted;
    const gives = `${name} gives ${get.mint}`;
    const takes = `${name} takes ${give.mint}`;
    const givesOne = `${gives} to ${accountId}`;
    const [[giveHeld = 0n, getHeld = 0n], canBeTaken, toAll, fromAll, toOne] = await Promise.all([
      deskInventory(ledger, address, [give, get]),
      canTake(give),
      promised(gives),
      promised(takes),
      promised(givesOne),
    ]);
    const inventory = { give: giveHeld, get: getHeld, expected: fromAll, promised: toAll };
    const price = await priced(wanted, inventory);
    const { outputAmount } = price;
    const share = getHeld / ACCOUNT_SHARE;
    const available = canBeTaken ? least(getHeld - toAll, share - toOne) : 0n;
    if (outputAmount <= 0n || outputAmount > available) {
      const shown = available > 0n ? available : 0n;
      throw new PaymentError("INSUFFICIENT_LIQUIDITY", { available: formatAmount(shown, get.decimals) });
    }
    const forOne = { resource: givesOne, amount: outputAmount, most: share };
    if (prices !== undefined) {
      return { ...price, reservations: [{ resource: gives, amount: outputAmount, most: getHeld }, forOne] };
    }
    // A price made of what is promised holds only if nothing more has been promised meanwhile.
    return {
      ...price,
      reservations: [
        { resource: gives, amount: outputAmount, most: toAll + outputAmount },
        { resource: takes, amount, most: fromAll + amount },
        forOne,
      ],
    };
  };

  return {
    async check(genesisHash) {
      if (prices === undefined && genesisHash === MAINNET_GENESIS) {
        throw new StartRefused(
          "deskProvider: without `prices` the desk's inventory makes the price, which is for local chains: " +
            "on mainnet give it a price source",
        );
      }
      await warnOfShortage(ledger, address, tokens, log);
    },
    queueOf: () => (prices === undefined ? name : null),
    offer,
    async build(exchange) {
      const { sender, get } = exchange;
      const mint = ledgerMint(get);
      const plan = { feePayer: sender, moves: walletMoves(address, exchange) };
      const [unsigned, hasAccount] = await Promise.all([
        ledger.buildTransaction(plan),
        mint === null ? true : ledger.haveTokenAccounts([sender], mint).then(([has]) => has === true),
      ]);
      const rent = hasAccount ? 0n : await ledger.rentMinimum(TOKEN_ACCOUNT_BYTES);
      return { unsigned, plan, rent, ticket: null };
    },
    async complete({ unsigned, sender, signature }) {
      return (await signTransaction(unsigned, [desk], new Map([[sender, signature]]))).bytes;
    },
    direct: { signer: desk, moves: (exchange) => directMoves(address, exchange) },
  };
}

/** Both sides of one exchange. */
interface Inventory {
  readonly give: bigint;
  readonly get: bigint;
  /** What open quotes and swaps under way will bring of what is given, and take of what is got. */
  readonly expected: bigint;
  readonly promised: bigint;
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
