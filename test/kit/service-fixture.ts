/** A payment service over a real chain in this process, with accounts, wallets and a clock that a test turns. */
import { type PaymentStorage, paymentStorage } from "../../src/payments/payment-storage.ts";
import { newStorage } from "./new-storage.ts";
import { type Caller, SCOPES } from "../../src/payments/frame/accounts/caller.ts";
import { createPaymentService } from "../../src/service/create-payment-service.ts";
import type { PaymentService } from "../../src/service/payment-service.ts";
import type { PaymentServiceOptions } from "../../src/service/payment-service-options.ts";
import type { QuoteBody } from "../../src/payments/frame/quotes/quote-body.ts";
import type { CreatedTransferBody } from "../../src/payments/frame/signed/accept-signed.ts";
import { associatedTokenAddress } from "../../src/local/funding.ts";
import { chainFixture, signPayment, type ChainFixture, type Wallet } from "./chain-fixture.ts";
import { middleRandom } from "./middle-random.ts";
import { passTime } from "./pass-time.ts";
import { silentLogger } from "../../src/core/runtime.ts";

/** What a test of the service works with. */
export interface ServiceFixture extends ChainFixture {
  readonly storage: PaymentStorage;
  readonly service: PaymentService;
  /** A caller on a new account of this tier. */
  caller(tier?: Caller["tier"]): Promise<Caller>;
  /** A signed send, quoted and ready to be posted. */
  prepareSend(caller: Caller, send: Send): Promise<PreparedSend>;
  /** Quotes, signs and posts a send. */
  send(caller: Caller, send: Send): Promise<CreatedTransferBody>;
  /** Lets slots and time pass until nothing more happens at finality. */
  finalize(): Promise<void>;
  /** Lets virtual time pass, due moment by due moment. */
  pass(ms: number): Promise<void>;
  /** Signs a transaction in base64 as the wallet's owner. */
  sign(unsignedTransaction: string, wallet: Wallet): string;
  /** The wallet's associated token account. */
  tokenAccountOf(wallet: Wallet, asset: "USDC" | "USDT"): string;
  /** Another service on the same storage and chain, as after a restart or in a second process. */
  another(options?: Partial<PaymentServiceOptions>): PaymentService;
}

/** A payment in words. */
export interface Send {
  readonly from: Wallet;
  readonly to: string;
  readonly amount: string;
  readonly asset?: string;
}

/** A request body for POST /v1/transactions. */
export interface PreparedSend {
  readonly quote: QuoteBody;
  readonly body: {
    readonly type: "send";
    readonly quoteId: string;
    readonly sender: string;
    readonly recipients: readonly { address: string; amount: string }[];
    readonly signedTransaction: string;
  };
}

/** The master secret of tests: not secret at all. */
export const TEST_MASTER_SECRET = { version: 1, secret: new Uint8Array(32).fill(7) };

/**
 * Makes the fixture over the given storage, by default a new one, and the given chain. The service is started. Options that need
 * wallets are made once the chain is there.
 */
export async function serviceFixture(
  { storage: kept, on, ...given }: Partial<PaymentServiceOptions> & { readonly on?: ChainFixture } = {},
  optionsOn: (chain: ChainFixture) => Partial<PaymentServiceOptions> = () => ({}),
): Promise<ServiceFixture> {
  const fixture = on ?? (await chainFixture());
  const storage = kept === undefined ? await newStorage() : paymentStorage(kept);
  const options = { ...given, ...optionsOn(fixture) };
  const { chain, clock, mints } = fixture;
  const another = (more: Partial<PaymentServiceOptions> = {}): PaymentService =>
    createPaymentService({
      storage,
      ledger: fixture.ledger,
      clock,
      random: middleRandom,
      masterSecrets: [TEST_MASTER_SECRET],
      stablecoins: mints,
      logger: silentLogger,
      ...options,
      ...more,
    });
  const service = another();
  await service.start();

  const prepareSend: ServiceFixture["prepareSend"] = async (caller, { from, to, amount, asset = "USDC" }) => {
    const recipients = [{ address: to, amount }];
    const { body: quote } = await service.createQuote(caller, {
      inputAsset: asset,
      outputAsset: asset,
      amount,
      sender: from.address,
      recipients,
    });
    const unsigned = Buffer.from(quote.transaction ?? "", "base64");
    const signedTransaction = signPayment(unsigned, from.secretKey);
    return {
      quote,
      body: { type: "send", quoteId: quote.quoteId, sender: from.address, recipients, signedTransaction },
    };
  };

  return {
    ...fixture,
    storage,
    service,
    another,
    sign: (unsigned, { secretKey }) => signPayment(Buffer.from(unsigned, "base64"), secretKey),
    tokenAccountOf: ({ address }, asset) => associatedTokenAddress(address, mints[asset]),
    prepareSend,
    async caller(tier = "free") {
      const { accountId } = await service.createAccount({ name: "test", tier });
      return { accountId, tier, scopes: SCOPES };
    },
    async send(caller, send) {
      const { body } = await prepareSend(caller, send);
      const request = { ...body, recipients: [...body.recipients] };
      return (await service.createTransaction(caller, request)).body as CreatedTransferBody;
    },
    async finalize() {
      await service.settled();
      chain.advance(2);
      await service.settled();
      chain.advance(40);
      await service.settled();
    },
    pass: (ms) =>
      passTime({ clock, engine: service, storage, workflows: service.workflows }, clock.now() + ms),
    async close() {
      await service.stop();
      if (kept === undefined) await storage.close();
      await fixture.close();
    },
  };
}
