/** The helpers of `paystate dev`: fund an address, pay a deposit, let slots or a window pass, make calls of the chain fail. */
import { z } from "zod";
import { addressSchema } from "../core/address-schema.ts";
import { knownAddress } from "../core/address.ts";
import { parseAmount } from "../core/amount.ts";
import { isPaymentError } from "../errors/errors.ts";
import { keypairSigner, signTransaction } from "../ledger/sign-transaction.ts";
import type { TransactionBody } from "../payments/frame/transactions/transaction-schema.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { DevClock } from "./dev-clock.ts";
import type { LocalChain, LocalWallet } from "../local/index.ts";
import type { Tier } from "../payments/frame/tables/identity.ts";
import type { PaymentService } from "../service/payment-service.ts";

/** Carries out one request. `body` is the request's JSON. Throws `ZodError` for an unexpected body. */
type DevAct = (world: DevContext, body: unknown) => object | Promise<object>;

/** A helper refused a request; the message says why. */
export class ActRefused extends Error {
  override readonly name = "ActRefused";
}

const FUNDS = { SOL: "lamports", USDC: "usdc", USDT: "usdt" } as const;
const ASSETS = ["SOL", "USDC", "USDT"] as const;
const MAX_SECONDS = 86_400;
const MAX_FAILURES = 1_000;
/** Finalized after 32 slots, with one to spare. */
export const SLOTS_TO_FINALITY = 33;
// As a node answers that has too much to do.
const FAILURE = { kind: "refuse", status: 503 } as const;

const decimalText = z.string().regex(/^\d+(?:\.\d+)?$/, 'expected a decimal text such as "12.5"');

const fund = actOn(
  z.strictObject({
    address: addressSchema("expected a base58 address"),
    asset: z.enum(ASSETS),
    amount: decimalText,
  }),
  ({ chain, service }, { address, asset, amount }) => {
    const units = unitsOf(service, asset, amount);
    try {
      return { signature: chain.fund(address, { [FUNDS[asset]]: units }) };
    } catch (cause) {
      throw new ActRefused((cause as Error).message, { cause });
    }
  },
);

const depositSchema = z.strictObject({ transactionId: z.string(), amount: decimalText.optional() });

const deposit = actOn(depositSchema, async (world, { transactionId, amount: wanted }) => {
  const order = await orderOf(world, transactionId);
  const { status, ephemeralAddress, depositAsset, depositMint, remainingAmount } = order;
  if (ephemeralAddress === undefined || depositAsset === undefined || remainingAmount === undefined) {
    throw noDeposit(transactionId);
  }
  if (status !== "pending" || remainingAmount === "0") {
    throw new ActRefused(`${transactionId} waits for no deposit: ${remainingAmount} left, ${status}`);
  }
  const amount = wanted ?? remainingAmount;
  const signer = keypairSigner(world.payer.secretKey);
  const from = signer.address;
  const mint = depositMint === null || depositMint === undefined ? null : knownAddress(depositMint);
  const unsigned = await world.ledger.buildTransaction({
    feePayer: from,
    moves: [
      {
        does: "transfer",
        mint,
        decimals: decimalsOf(world.service, depositAsset),
        from,
        to: knownAddress(ephemeralAddress),
        amount: unitsOf(world.service, depositAsset, amount),
        accountPayer: mint === null ? null : from,
      },
    ],
  });
  const { bytes, signature } = await signTransaction(unsigned, [signer]);
  await world.ledger.broadcast(bytes);
  return { signature, from, to: ephemeralAddress, asset: depositAsset, amount };
});

const clock = actOn(
  z.strictObject({ seconds: z.int().min(1).max(MAX_SECONDS) }),
  ({ chain, slotMs }, { seconds }) => {
    const slots = Math.ceil((seconds * 1_000) / slotMs);
    chain.advance(slots);
    return { slots, slot: chain.slot(), blockHeight: chain.blockHeight() };
  },
);

const expire = actOn(z.strictObject({ transactionId: z.string() }), async (world, { transactionId }) => {
  const { depositExpiresAt } = await orderOf(world, transactionId);
  if (depositExpiresAt === undefined) throw noDeposit(transactionId);
  // The window is over when a finalized block says so.
  const over = Date.parse(depositExpiresAt) + SLOTS_TO_FINALITY * world.slotMs;
  const ms = Math.max(0, over - world.clock.now());
  world.clock.pass(ms);
  return { seconds: ms / 1_000 };
});

const fail = actOn(z.strictObject({ next: z.int().min(0).max(MAX_FAILURES) }), ({ chain }, { next }) => {
  chain.faults.clear();
  if (next === 0) return { next };
  let left = next;
  const lift = chain.faults.add(({ transport }) => {
    if (transport !== "http") return undefined;
    left -= 1;
    if (left === 0) lift();
    return FAILURE;
  });
  return { next };
});

/** All acts, by the last part of their path. */
export const DEV_ACTS: ReadonlyMap<string, DevAct> = new Map(
  Object.entries({ fund, deposit, expire, clock, fail }),
);

function noDeposit(transactionId: string): ActRefused {
  return new ActRefused(`${transactionId} is no private order: it has no deposit`);
}

function actOn<Fields>(
  schema: z.ZodType<Fields>,
  perform: (world: DevContext, fields: Fields) => object | Promise<object>,
): DevAct {
  return (world, body) => perform(world, schema.parse(body));
}

/** The keys are of three accounts, and the order is of one of them. */
async function orderOf({ service, apiKeys }: DevContext, transactionId: string): Promise<TransactionBody> {
  for (const key of Object.values(apiKeys)) {
    const caller = await service.authenticate(`Bearer ${key}`);
    const found = await service.transaction(caller, transactionId).catch((error: unknown) => {
      if (isPaymentError(error, "TRANSACTION_NOT_FOUND")) return null;
      throw error;
    });
    if (found !== null) return found;
  }
  throw new ActRefused(`no account of this paystate dev has a transaction ${transactionId}`);
}

function decimalsOf(service: DevContext["service"], asset: string): number {
  const token = service.tokens().tokens.find(({ symbol }) => symbol === asset);
  if (token === undefined) throw new ActRefused(`there is no asset ${asset}`);
  return token.decimals;
}

function unitsOf(service: DevContext["service"], asset: string, amount: string): bigint {
  const decimals = decimalsOf(service, asset);
  const parsed = parseAmount(amount, decimals);
  if ("amount" in parsed) return parsed.amount;
  throw new ActRefused(`amount: expected a decimal text above 0 with at most ${decimals} decimals`);
}

/** A development at work. */
export interface DevContext {
  readonly chain: LocalChain;
  /** Duration of a slot in milliseconds. */
  readonly slotMs: number;
  /** The time of chain and service, and how it is let pass, in milliseconds. */
  readonly clock: Pick<DevClock, "now" | "pass">;
  readonly ledger: Pick<Ledger, "buildTransaction" | "broadcast">;
  readonly service: Pick<PaymentService, "authenticate" | "transaction" | "tokens">;
  readonly apiKeys: Readonly<Record<Tier, string>>;
  /** Pays deposits. */
  readonly payer: LocalWallet;
}
