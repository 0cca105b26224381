/** What customers do with private orders and swaps, and what becomes of their payees meanwhile. */
// modules: private, webhooks
import type { Address } from "../../src/core/address.ts";
import { formatAmount } from "../../src/core/amount.ts";
import type { CreatedOrderBody } from "../../src/payments/private/accept-order.ts";
import type { QuoteBody } from "../../src/payments/frame/quotes/quote-body.ts";
import { freezeAccount, units } from "../kit/money.ts";
import { signAsFirst } from "../kit/swap-fixture.ts";
import type { Act, Stage } from "./flow.ts";
import { CUSTOMER } from "./house.ts";
import { DECIMALS, type Order } from "./order.ts";

/** The customer orders a private send of so many USDC to one payee, or a payroll of so many to each of several. */
export function orderPrivately(payment: string, each: string, payees: readonly string[]): Act {
  return async (stage) => {
    const { service, world } = stage;
    const recipients = payees.map((payee) => ({ address: world.wallet(payee).address, amount: each }));
    const amount = formatAmount(units(each, DECIMALS.USDC) * BigInt(payees.length), DECIMALS.USDC);
    const { body: quote } = await service.createQuote(
      world.caller,
      { inputAsset: "USDC", outputAsset: "USDC", amount, mode: "private", recipients },
      { idempotencyKey: `quote-${payment}` },
    );
    const { body } = await service.createTransaction(
      world.caller,
      {
        type: payees.length === 1 ? "send" : "payroll",
        mode: "private",
        quoteId: quote.quoteId,
        sender: world.wallet(CUSTOMER).address,
        recipients,
      },
      { idempotencyKey: `post-${payment}` },
    );
    const order = { payees, asset: "USDC", each: units(each, DECIMALS.USDC) } as const;
    note(stage, payment, body.transactionId, {
      ...order,
      deposit: depositOf(body as CreatedOrderBody, quote),
    });
  };
}

/** The customer orders a private swap of so many SOL. */
export function swapPrivately(payment: string, amount: string): Act {
  return async (stage) => {
    const { service, world } = stage;
    const quote = await quoteSwap(stage, payment, { amount, mode: "private" });
    const { body } = await service.createTransaction(
      world.caller,
      { ...swapOf(stage, quote), mode: "private" },
      { idempotencyKey: `post-${payment}` },
    );
    const deposit = depositOf(body as CreatedOrderBody, quote);
    note(stage, payment, body.transactionId, {
      ...swapped(quote),
      deposit,
      given: { asset: "SOL", amount: deposit.due - deposit.fee },
    });
  };
}

/** The customer quotes, signs and posts a swap of so many SOL. */
export function swapByWallet(payment: string, amount: string): Act {
  return async (stage) => {
    const { service, world } = stage;
    const quote = await quoteSwap(stage, payment, { amount });
    const signedTransaction = signAsFirst(quote.transaction ?? "", world.wallet(CUSTOMER));
    const { body } = await service.createTransaction(
      world.caller,
      { ...swapOf(stage, quote), signedTransaction },
      { idempotencyKey: `post-${payment}` },
    );
    const given = { asset: "SOL", amount: units(amount, DECIMALS.SOL) } as const;
    note(stage, payment, body.transactionId, { ...swapped(quote), given });
  };
}

/** The customer sends what was asked for, or more or less than that, once. */
export function payIn(payment: string, amountOf: (due: bigint) => bigint = (due) => due): Act {
  return once(async ({ world }) => {
    const { chain } = world.fixture;
    const asked = world.orders.get(payment)?.deposit;
    if (asked === undefined) throw new Error(`nothing was asked for to pay ${payment}`);
    const amount = amountOf(asked.due);
    chain.fund(asked.address, asked.asset === "SOL" ? { lamports: amount } : { usdc: amount });
    world.deposited.set(payment, (world.deposited.get(payment) ?? 0n) + amount);
  });
}

/** The issuer freezes what this wallet has of USDC. */
export function freeze(name: string): Act {
  return once(({ world }) => freezeAccount(world.fixture, world.wallet(name), "USDC"));
}

/** What others do, they do once, however many processes live through it. */
function once(deed: Act): Act {
  const seen = new WeakSet<Stage["world"]>();
  return async (stage) => {
    if (seen.has(stage.world)) return;
    seen.add(stage.world);
    await deed(stage);
  };
}

function note({ world }: Stage, payment: string, id: string, order: Order): void {
  world.taken.set(payment, id);
  world.orders.set(payment, order);
}

async function quoteSwap(
  { service, world }: Stage,
  payment: string,
  swap: { readonly amount: string; readonly mode?: "private" },
): Promise<QuoteBody> {
  const sender = world.wallet(CUSTOMER).address;
  const request = { inputAsset: "SOL", outputAsset: "USDC", sender, ...swap };
  const { body } = await service.createQuote(world.caller, request, { idempotencyKey: `quote-${payment}` });
  return body;
}

const swapOf = ({ world }: Stage, { quoteId, outputAmount }: QuoteBody) => {
  const { address } = world.wallet(CUSTOMER);
  return { type: "swap" as const, quoteId, sender: address, recipients: [{ address, amount: outputAmount }] };
};

const swapped = ({ outputAmount }: QuoteBody) =>
  ({ payees: [CUSTOMER], asset: "USDC", each: units(outputAmount, DECIMALS.USDC) }) as const;

function depositOf(
  { ephemeralAddress, depositAmount, depositAsset }: CreatedOrderBody,
  { fee }: QuoteBody,
): NonNullable<Order["deposit"]> {
  const asset = depositAsset === "SOL" ? "SOL" : "USDC";
  const decimals = DECIMALS[asset];
  return {
    address: ephemeralAddress as Address,
    asset,
    due: units(depositAmount, decimals),
    fee: units(fee, decimals),
  };
}
