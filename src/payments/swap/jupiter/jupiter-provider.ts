/** A swap provider for wallets: Jupiter's Swap API, each transaction checked before the taker sees it. */
import { z } from "zod";
import { SOL_MINT } from "../../../core/address.ts";
import { formatAmount } from "../../../core/amount.ts";
import { PaymentError, upstreamError } from "../../../errors/errors.ts";
import { checkOptions, functionOption, optionsWith } from "../../../core/options.ts";
import { parseUrl } from "../../../core/parse-url.ts";
import { ledgerMint, MAINNET_GENESIS } from "../../frame/assets/assets.ts";
import { tooLittle } from "../../frame/assets/amount-errors.ts";
import { HostParts, PART_DEADLINE_MS } from "../../frame/host-parts.ts";
import { JupiterClient } from "./jupiter-client.ts";
import type {
  BuiltSwap,
  ProviderContext,
  SenderSignedSwap,
  SwapOffer,
  SwapProvider,
  WalletSwap,
  WantedSwap,
} from "../../frame/exchange/swap-provider.ts";

const jupiterOptions = optionsWith({
  /** The key of the API, from Jupiter's portal; sent as `x-api-key` and never logged. */
  apiKey: z.string().regex(/^[\x21-\x7e]{1,256}$/, { error: "expected 1 to 256 visible ASCII characters" }),
  /** Where the API is: an https URL, or http on this machine. Default `https://api.jup.ag/swap/v2`. */
  url: z
    .string()
    .refine(isSafeUrl, { error: "expected an https URL, or http on a loopback address" })
    .default("https://api.jup.ag/swap/v2"),
  /** For tests and proxies. Default: the standard one. */
  fetch: functionOption<typeof globalThis.fetch>().default(() => globalThis.fetch),
});

function isSafeUrl(text: string): boolean {
  const { protocol, hostname } = parseUrl(text) ?? { protocol: "", hostname: "" };
  const isHere = hostname === "127.0.0.1" || hostname === "localhost" || hostname === "[::1]";
  return protocol === "https:" || (protocol === "http:" && isHere);
}

/** Options of the provider. @interface */
export type JupiterOptions = z.input<typeof jupiterOptions>;

/** A taker with less than this gets orders whose fee another pays; they are refused. */
const LEAST_LAMPORTS = 10_000_000n;
const SOL_DECIMALS = 9;

/**
 * Swaps of wallets through Jupiter's markets. A quote with a `sender` holds Jupiter's own transaction, after checks and
 * a run by as many endpoints as must agree; `outputAmount` is what the sender gets at least. Private swaps stay with a
 * desk. Throws `InvalidOptions`.
 *
 * @example
 * ```ts
 * import { jupiterProvider } from "paystate";
 *
 * // As `swap: { provider }` of `createPaymentService`.
 * const provider = jupiterProvider({ apiKey: "from-portal.jup.ag" });
 * console.log(provider.name); // jupiter
 * ```
 */
export function jupiterProvider(options: JupiterOptions): SwapProvider {
  const { apiKey, url, fetch } = checkOptions("jupiterProvider", jupiterOptions, options);
  return {
    name: "jupiter",
    connect(surroundings) {
      const { clock, ask = new HostParts(clock, PART_DEADLINE_MS).ask, log } = surroundings;
      const api = new JupiterClient({ apiKey, url, fetch, ask });
      return {
        async check(genesisHash) {
          if (genesisHash === MAINNET_GENESIS) return;
          log.warn({ genesisHash }, "jupiterProvider: Jupiter trades on mainnet, and this is another chain");
        },
        queueOf: () => null,
        isFirm: true,
        offer: (wanted) => offer(api, surroundings, wanted),
        build: (swap) => build(surroundings, swap),
        complete: (signed) => complete(api, surroundings, signed),
        direct: null,
      };
    },
  };
}

/** Without a taker it is an indication, and has no transaction. */
async function offer(
  api: JupiterClient,
  surroundings: ProviderContext,
  wanted: WantedSwap,
): Promise<SwapOffer> {
  const order = await api.order(wanted);
  const { leastAmount: outputAmount, priceImpact } = order;
  if (outputAmount <= 0n) throw await refusal(surroundings, wanted);
  const common = { outputAmount, priceImpact, reservations: [] };
  if (wanted.taker === undefined) return common;
  if (order.transaction === null) throw await refusal(surroundings, wanted);
  return { ...common, ticket: JSON.stringify([order.transaction, order.requestId]) };
}

async function build(surroundings: ProviderContext, swap: WalletSwap): Promise<BuiltSwap> {
  const { ledger, log } = surroundings;
  const { give, get, inputAmount, outputAmount, sender } = swap;
  const [transaction, requestId] = z.tuple([z.string(), z.string()]).parse(JSON.parse(swap.ticket ?? "[]"));
  const found = await ledger.checkForeignSwap(transaction, {
    taker: sender,
    give: ledgerMint(give),
    get: ledgerMint(get),
    inputAmount,
    leastAmount: outputAmount,
  });
  if ("checked" in found) {
    const { unsigned, rent } = found.checked;
    return { unsigned, plan: null, rent, ticket: requestId };
  }
  log.warn({ requestId, sender, fault: found.refused }, "an order of Jupiter was refused");
  // Our endpoints may not know Jupiter's newest blockhash yet: the next order is over another one.
  if (found.refused === "blockhash") throw upstreamError();
  throw await refusal(surroundings, { give, get, amount: inputAmount, taker: sender });
}

/**
 * Jupiter lands what it has built; the service sends the same bytes, too, so that Jupiter's silence or error, which
 * proves nothing, costs no more than time.
 */
async function complete(
  api: JupiterClient,
  { log }: ProviderContext,
  { bytes, ticket }: SenderSignedSwap,
): Promise<Uint8Array> {
  try {
    await api.execute(bytes, ticket ?? "");
  } catch (error) {
    log.warn(
      { requestId: ticket, err: error },
      "Jupiter did not take a signed swap; it is sent without Jupiter",
    );
  }
  return bytes;
}

/** The bar between a taker and an order: too little of its own, or else no market for it. */
async function refusal(
  { ledger }: ProviderContext,
  { give, get, amount, taker }: Pick<WantedSwap, "give" | "get" | "amount" | "taker">,
): Promise<PaymentError> {
  const none = new PaymentError("INSUFFICIENT_LIQUIDITY", { available: formatAmount(0n, get.decimals) });
  if (taker === undefined) return none;
  const mint = ledgerMint(give);
  const { funds } = await ledger.funds([taker], mint === null ? [] : [mint], "confirmed");
  const lamports = funds[0]?.lamports ?? 0n;
  const held = mint === null ? lamports : (funds[0]?.tokens[0] ?? 0n);
  if (held < amount) return tooLittle(give, "amount", { required: amount, available: held });
  const sol = { symbol: "SOL", mint: SOL_MINT, decimals: SOL_DECIMALS };
  if (lamports >= LEAST_LAMPORTS) return none;
  return tooLittle(sol, "fee", { required: LEAST_LAMPORTS, available: lamports });
}
