/** Errors, and reasons of errors, of swaps over the desk: a request for each. */
// modules: swap/desk
import { keypairSigner } from "../../src/ledger/sign-transaction.ts";
import { deskProvider } from "../../src/payments/swap/desk/desk-provider.ts";
import type { JudgedAnswer } from "./answer-judge.ts";
import { over, plain, send, type Asking, type ByReason, type ErrorCase } from "./asking.ts";
import type { Draft } from "./mutations.ts";

/** Asks while somebody has taken all dollars from the desk. */
export async function withEmptyDesk(
  { world: { payments, sender } }: Asking,
  asking: () => Promise<JudgedAnswer>,
): Promise<JudgedAnswer> {
  const { desk, deskWallet, mints, chain } = payments;
  const [, usdc] = await payments.held(desk);
  const leg = { does: "transfer", mint: mints.USDC, decimals: 6, amount: usdc } as const;
  await payments.move(deskWallet, { ...leg, from: desk, to: sender.address, accountPayer: desk });
  try {
    return await asking();
  } finally {
    chain.fund(desk, { usdc });
    chain.advance(35);
  }
}

/** A swap of one SOL, quoted and signed. */
async function swapDraft({ world: { payments, sender }, tenant }: Asking): Promise<Draft> {
  const swap = { sender, give: "SOL", get: "USDC", amount: "1" };
  const order = payments.signed(await payments.quote(tenant.caller, swap), sender);
  return plain(tenant, "POST", "/v1/transactions", order);
}

/** By operation and code. */
export const SWAP_ERRORS: Readonly<Record<string, ErrorCase>> = {
  "createTransaction INSUFFICIENT_LIQUIDITY": async (asking) => {
    const draft = await swapDraft(asking);
    return withEmptyDesk(asking, () => send(asking, draft));
  },
};

const LAMPORTS_OF_A_SOL = 1_000_000_000n;

const INVALID_QUOTE: ByReason<"price_moved" | "asset_mismatch"> = {
  price_moved: async (asking) => {
    const { payments, handlerWith } = asking.world;
    const draft = await swapDraft(asking);
    const desk = keypairSigner(payments.deskWallet.secretKey);
    // A dollar for a SOL: far below what was quoted.
    const prices = { rate: async () => ({ give: LAMPORTS_OF_A_SOL, get: 1_000_000n }) };
    const service = payments.another({ swap: { provider: deskProvider({ desk, prices }) } });
    return send(asking, draft, handlerWith({ service }));
  },
  asset_mismatch: (asking) => {
    const swap = { inputAsset: "SOL", outputAsset: "USDC", amount: "1" };
    return over(asking, { ...swap, sender: asking.world.sender.address });
  },
};

/** By code and reason. */
export const SWAP_REASONS = { INVALID_QUOTE };
