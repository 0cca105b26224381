/** Errors, and reasons of errors, of private swaps over the desk: a request for each. */
// modules: private, swap/desk
import { orderOf } from "./asking-private.ts";
import { fields, plain, quoted, refreshOf, send, type ByReason, type ErrorCase } from "./asking.ts";
import { withEmptyDesk } from "./swap-cases.ts";

const SWAP = { inputAsset: "SOL", outputAsset: "USDC", mode: "private", amount: "1" };

/** By operation and code. */
export const PRIVATE_SWAP_ERRORS: Readonly<Record<string, ErrorCase>> = {
  "createQuote INSUFFICIENT_LIQUIDITY": (asking) =>
    send(asking, fields(asking, { amount: "100000" }, "privateSwap")),
  "refreshQuote AMOUNT_TOO_SMALL": async (asking) => {
    const { world, tenant } = asking;
    const swap = { inputAsset: "USDC", outputAsset: "SOL", mode: "private" };
    const refused = await world.ask(plain(tenant, "POST", "/v1/quotes", { ...swap, amount: "0.001" }));
    const [, amount = ""] = /"minimum":"([0-9.]+)"/.exec(refused?.text ?? "") ?? [];
    const { quoteId } = await quoted(asking, { ...swap, amount });
    // What the network costs is worth more USDC then.
    world.setPriceOfSol(155n);
    try {
      return await send(asking, refreshOf(asking, quoteId));
    } finally {
      world.setPriceOfSol(150n);
    }
  },
  "refreshQuote INSUFFICIENT_LIQUIDITY": async (asking) => {
    const { quoteId } = await quoted(asking, SWAP);
    return withEmptyDesk(asking, () => send(asking, refreshOf(asking, quoteId)));
  },
};

const ROUTING_UNAVAILABLE: ByReason<"liquidity"> = {
  liquidity: async (asking) => {
    const { sender, payments, handlerWith } = asking.world;
    const { quoteId, outputAmount } = await quoted(asking, SWAP);
    const recipients = [{ address: sender.address, amount: outputAmount }];
    // The desk was taken away between the quote and the order.
    const service = payments.another({ swap: undefined });
    const draft = orderOf(asking, { type: "swap", quoteId, recipients });
    return send(asking, draft, handlerWith({ service }));
  },
};

/** By code and reason. */
export const PRIVATE_SWAP_REASONS = { ROUTING_UNAVAILABLE };
