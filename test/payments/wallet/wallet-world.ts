/** Alice, who holds 50 USDC and 1 SOL, pays Bob through a service; and what a refused request is expected to say. */
import bs58 from "bs58";
import { expect } from "vitest";
import { PaymentError, type ErrorCode } from "../../../src/errors/errors.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import type { RequestOptions } from "../../../src/payments/frame/accounts/answer-once.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { serviceFixture, type PreparedSend, type ServiceFixture } from "../../kit/service-fixture.ts";

/** What a test of wallet mode works with. */
export interface WalletWorld {
  readonly fixture: ServiceFixture;
  readonly caller: Caller;
  readonly alice: Wallet;
  readonly bob: Wallet;
  /** A signed payment to Bob, of 1 USDC unless told otherwise, quoted and ready to be posted. */
  pay(amount?: string): Promise<PreparedSend>;
  /** Posts a body, however wrong it is. */
  post(body: object, options?: RequestOptions): ReturnType<PaymentService["createTransaction"]>;
  /** The USDC of an address as the service shows it. */
  usdcOf(address: string): Promise<string>;
  /** How often a node was asked to send these bytes, or any at all. */
  sent(signedTransaction?: string): number;
  close(): Promise<void>;
}

export async function walletWorld(options: Parameters<typeof serviceFixture>[0] = {}): Promise<WalletWorld> {
  const fixture = await serviceFixture(options);
  const caller = await fixture.caller();
  const alice = fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  const bob = fixture.wallet("bob");
  const sends: unknown[] = [];
  fixture.chain.faults.add(({ method, params }) => {
    if (method === "sendTransaction") sends.push(params[0]);
    return undefined;
  });
  return {
    fixture,
    caller,
    alice,
    bob,
    pay: (amount = "1") => fixture.prepareSend(caller, { from: alice, to: bob.address, amount }),
    post: (body, requestOptions = {}) =>
      fixture.service.createTransaction(caller, body as never, requestOptions),
    async usdcOf(address) {
      const { tokens } = await fixture.service.balances(address);
      return tokens.find(({ symbol }) => symbol === "USDC")?.balance ?? "0";
    },
    sent: (bytes) => sends.filter((each) => bytes === undefined || each === bytes).length,
    close: () => fixture.close(),
  };
}

/** The `PaymentError` that this ends with; anything else fails the test. */
export async function refusal(work: Promise<unknown>): Promise<PaymentError> {
  const thrown: unknown = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(thrown instanceof PaymentError)) throw new Error(`expected a PaymentError, got ${String(thrown)}`);
  return thrown;
}

/** Expects a refusal with this code and at least these details. */
export async function expectRefusal(work: Promise<unknown>, code: ErrorCode, details: object): Promise<void> {
  const { code: thrown, details: given } = await refusal(work);
  expect({ code: thrown, details: given }).toMatchObject({ code, details });
}

/** The signature of a transaction with one, in base64: it stands after its count, before the message. */
export function signatureOf(signedTransaction: string): string {
  return bs58.encode(Buffer.from(signedTransaction, "base64").subarray(1, 65));
}
