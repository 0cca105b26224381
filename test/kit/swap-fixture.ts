/** A payment service with a swap desk, in both modes: 1,000 SOL, 150,000 USDC and 150,000 USDT in its inventory. */
import { sign } from "node:crypto";
import { type Address, SOL_MINT } from "../../src/core/address.ts";
import type { Move } from "../../src/ledger/routing.ts";
import { keypairSigner, signTransaction, type Signer } from "../../src/ledger/sign-transaction.ts";
import { isBlank, joinTransaction, splitTransaction } from "../../src/ledger/wire-format.ts";
import type { Funds } from "../../src/local/index.ts";
import type { Caller } from "../../src/payments/frame/accounts/caller.ts";
import type { CreatedTransferBody } from "../../src/payments/frame/signed/accept-signed.ts";
import type { CreatedOrderBody } from "../../src/payments/private/accept-order.ts";
import type { QuoteBody } from "../../src/payments/frame/quotes/quote-body.ts";
import { deskProvider, type DeskOptions } from "../../src/payments/swap/desk/desk-provider.ts";
import type { SwapProvider } from "../../src/payments/frame/exchange/swap-provider.ts";
import { signingKey, type Wallet } from "./chain-fixture.ts";
import type { GivenRouting } from "./routing.ts";
import { privateFixture, type PrivateFixture } from "./private-fixture.ts";

/** What a test of swaps works with. */
export interface SwapFixture extends PrivateFixture {
  readonly desk: Address;
  /** How often the desk was asked to sign. */
  readonly deskSigned: () => number;
  /** Quotes a swap. */
  quote(caller: Caller, swap: Swap): Promise<QuoteBody>;
  /** The body that posts a wallet's swap, its transaction signed. */
  signed(quote: QuoteBody, sender: Wallet, unsigned?: string): SwapBody;
  /** Quotes, signs and posts a wallet's swap. */
  swap(
    caller: Caller,
    swap: Swap,
  ): Promise<{ readonly quote: QuoteBody; readonly body: CreatedTransferBody }>;
  // modules: private
  /** Quotes and posts a private swap. */
  orderSwap(
    caller: Caller,
    swap: Swap,
  ): Promise<{ readonly quote: QuoteBody; readonly body: CreatedOrderBody }>;
  /** The desk by the key it has in this test, as its operator has it. */
  readonly deskWallet: Wallet;
  /** Has a wallet carry out moves of its own, past the service, and become final. */
  move(wallet: Wallet, ...moves: readonly Move[]): Promise<void>;
  /** What is promised of one asset of the desk, in base units. */
  promised(asset: "SOL" | "USDC" | "USDT"): Promise<bigint>;
}

/** A swap in words. */
export interface Swap {
  readonly sender: Wallet;
  readonly give: string;
  readonly get: string;
  readonly amount: string;
  readonly slippageBps?: number;
}

/** A request body for POST /v1/transactions. */
export interface SwapBody {
  readonly type: "swap";
  readonly quoteId: string;
  readonly sender: string;
  readonly recipients: { address: string; amount: string }[];
  readonly signedTransaction: string;
}

/** What the desk has unless a test says otherwise. */
export const INVENTORY: Funds = {
  lamports: 1_000_000_000_000n,
  usdc: 150_000_000_000n,
  usdt: 150_000_000_000n,
};

const DESK_SECRET = new Uint8Array(32).fill(9);

/** What may be other than usual. */
export interface SwapSettings {
  readonly options?: Parameters<typeof privateFixture>[0];
  readonly routing?: GivenRouting;
  readonly desk?: Partial<DeskOptions>;
  readonly inventory?: Funds;
  /** Another provider that trades with the desk's key. */
  readonly provider?: (signer: Signer) => SwapProvider;
  /** See `privateFixture`. */
  readonly ledgerOn?: Parameters<typeof privateFixture>[2];
}

export async function swapFixture({
  options = {},
  routing = {},
  desk: deskOptions = {},
  inventory = INVENTORY,
  provider = (signer) => deskProvider({ desk: signer, ...deskOptions }),
  ledgerOn,
}: SwapSettings = {}): Promise<SwapFixture> {
  const own = keypairSigner(DESK_SECRET);
  let asked = 0;
  const signer: Signer = {
    address: own.address,
    sign(message) {
      asked += 1;
      return own.sign(message);
    },
  };
  const swap = { provider: provider(signer) };
  const fixture = await privateFixture({ swap, ...options }, routing, ledgerOn);
  const { chain, service } = fixture;
  chain.fund(own.address, inventory);
  chain.advance(40);

  const quote: SwapFixture["quote"] = async (caller, { sender, give, get, amount, slippageBps }) => {
    const { body } = await service.createQuote(caller, {
      inputAsset: give,
      outputAsset: get,
      amount,
      sender: sender.address,
      ...(slippageBps === undefined ? {} : { slippageBps }),
    });
    return body;
  };
  const signed: SwapFixture["signed"] = (quoted, sender, unsigned = quoted.transaction ?? "") => ({
    type: "swap",
    quoteId: quoted.quoteId,
    sender: sender.address,
    recipients: [{ address: sender.address, amount: quoted.outputAmount }],
    signedTransaction: signAsFirst(unsigned, sender),
  });

  return {
    ...fixture,
    async move(wallet, ...moves) {
      const unsigned = await fixture.ledger.buildTransaction({ feePayer: wallet.address, moves });
      const { bytes } = await signTransaction(unsigned, [keypairSigner(wallet.secretKey)]);
      await fixture.ledger.broadcast(bytes);
      chain.advance(35);
    },
    async promised(asset) {
      const mint = asset === "SOL" ? SOL_MINT : fixture.mints[asset];
      const rows = await fixture.storage.reservations(`desk ${own.address} gives ${mint}`);
      return rows.reduce((sum, { amount }) => sum + amount, 0n);
    },
    desk: own.address,
    deskWallet: { address: own.address, secretKey: DESK_SECRET },
    deskSigned: () => asked,
    quote,
    signed,
    async swap(caller, words) {
      const quoted = await quote(caller, words);
      const { body } = await service.createTransaction(caller, signed(quoted, words.sender));
      return { quote: quoted, body: body as CreatedTransferBody };
    },
    // modules: private
    async orderSwap(caller, { sender, give, get, amount, slippageBps }) {
      const { body: quoted } = await service.createQuote(caller, {
        inputAsset: give,
        outputAsset: get,
        amount,
        mode: "private",
        sender: sender.address,
        ...(slippageBps === undefined ? {} : { slippageBps }),
      });
      const { body } = await service.createTransaction(caller, {
        type: "swap",
        mode: "private",
        quoteId: quoted.quoteId,
        sender: sender.address,
        recipients: [{ address: sender.address, amount: quoted.outputAmount }],
      });
      return { quote: quoted, body: body as CreatedOrderBody };
    },
  };
}

/** Signs in the first place of an unsigned transaction in base64, as a wallet does. */
export function signAsFirst(unsigned: string, { secretKey }: Wallet): string {
  const transaction = splitTransaction(Buffer.from(unsigned, "base64"));
  if (transaction === null) throw new Error("this is no transaction");
  const { message, signatures } = transaction;
  const key = signingKey(secretKey);
  const others = signatures.slice(1).map((signature) => (isBlank(signature) ? null : signature));
  return Buffer.from(joinTransaction(message, [sign(null, message, key), ...others])).toString("base64");
}
