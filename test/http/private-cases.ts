/** Errors, and reasons of errors, that private mode alone gives: a request for each. */
// modules: private
import { associatedTokenAddress } from "../../src/local/funding.ts";
import { unreadable } from "../kit/unreadable.ts";
import { ordered, ordering, orderOf, pausePrivate, privateDraft } from "./asking-private.ts";
import {
  cancelOf,
  fields,
  hourBehind,
  quoted,
  refreshOf,
  SAME_ASSET,
  send,
  withoutAnswers,
  withoutNodes,
  type ByReason,
  type ErrorCase,
} from "./asking.ts";
import { UNSERVED } from "./contract-world.ts";

/** By operation and code. */
export const PRIVATE_ERRORS: Readonly<Record<string, ErrorCase>> = {
  "createQuote ROUTING_UNAVAILABLE": async (asking) => {
    await pausePrivate(asking);
    return send(asking, fields(asking, { mode: "private" }));
  },
  "refreshQuote ROUTING_UNAVAILABLE": async (asking) => {
    const { quoteId } = await quoted(asking, { ...SAME_ASSET, amount: "1", mode: "private" });
    await pausePrivate(asking);
    return send(asking, refreshOf(asking, quoteId));
  },
  "createTransaction AMOUNT_TOO_SMALL": async (asking) => {
    const { payments, recipient } = asking.world;
    const empty = payments.wallet("empty").address;
    const recipients = [
      { address: recipient.address, amount: "1" },
      { address: empty, amount: "0.0005" },
    ];
    const sum = { inputAsset: "SOL", outputAsset: "SOL", amount: "1.0005", mode: "private", recipients };
    const lift = payments.chain.faults.add(unreadable(empty));
    const { quoteId } = await quoted(asking, sum);
    lift();
    return send(asking, orderOf(asking, { type: "payroll", quoteId, recipients }));
  },
  "createTransaction ROUTING_UNAVAILABLE": async (asking) => {
    await pausePrivate(asking);
    return send(asking, privateDraft(asking));
  },
  "cancelTransaction UPSTREAM_ERROR": async (asking) => {
    const transactionId = await ordered(asking);
    return withoutNodes(asking.world, () => send(asking, cancelOf(asking, transactionId)));
  },
  "cancelTransaction OUTCOME_UNKNOWN": async (asking) =>
    send(asking, cancelOf(asking, await ordered(asking)), withoutAnswers(asking)),
  "cancelTransaction ROUTING_UNAVAILABLE": async (asking) => {
    const { payments, handlerWith } = asking.world;
    const transactionId = await ordered(asking);
    const service = payments.another({ privateRouting: undefined });
    return send(asking, cancelOf(asking, transactionId), handlerWith({ service }));
  },
};

const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";

/** What the chain says of an address: in wallet mode the quote tells it. */
type Looked = "token_account" | "program" | "mint" | "off_curve";

const INVALID_RECIPIENT: ByReason<Looked | "not_served" | "own_address"> = {
  token_account: (asking) => {
    const { recipient, payments } = asking.world;
    return ordering(asking, associatedTokenAddress(recipient.address, payments.mints.USDC));
  },
  program: (asking) => ordering(asking, TOKEN_PROGRAM),
  mint: (asking) => ordering(asking, asking.world.payments.mints.USDC),
  off_curve: (asking) => {
    const { payments } = asking.world;
    return ordering(asking, associatedTokenAddress(payments.wallet("absent").address, payments.mints.USDT));
  },
  not_served: (asking) => ordering(asking, UNSERVED),
  own_address: (asking) => ordering(asking, asking.world.payments.sponsor.address),
};

const ROUTING_UNAVAILABLE: ByReason<"paused" | "upstream" | "capacity" | "clock" | "off"> = {
  paused: async (asking) => {
    await pausePrivate(asking);
    return send(asking, privateDraft(asking));
  },
  upstream: (asking) => {
    const draft = privateDraft(asking);
    return withoutNodes(asking.world, () => send(asking, draft));
  },
  capacity: async (asking) => {
    const { sponsor, treasury, held, move, chain } = asking.world.payments;
    const draft = privateDraft(asking);
    const [lamports] = await held(sponsor.address);
    const taken = lamports - 1_000_000n;
    const leg = { does: "transfer", mint: null, decimals: 9, accountPayer: null } as const;
    await move(sponsor, { ...leg, from: sponsor.address, to: treasury.address, amount: taken });
    try {
      return await send(asking, draft);
    } finally {
      chain.fund(sponsor.address, { lamports: taken });
      chain.advance(35);
    }
  },
  clock: (asking) => hourBehind(asking, privateDraft(asking)),
  off: (asking) => {
    const { payments, handlerWith } = asking.world;
    const service = payments.another({ privateRouting: undefined, swap: undefined });
    return send(asking, privateDraft(asking), handlerWith({ service }));
  },
};

const ALREADY_PROCESSED: ByReason<"deposit_detected"> = {
  deposit_detected: async (asking) => {
    const { payments } = asking.world;
    const transactionId = await ordered(asking);
    const { caller } = asking.tenant;
    const { ephemeralAddress = "" } = (await payments.service.transaction(caller, transactionId)) as {
      readonly ephemeralAddress?: string;
    };
    payments.chain.fund(ephemeralAddress, { usdc: 1_000_000n });
    payments.chain.advance(1);
    return send(asking, cancelOf(asking, transactionId));
  },
};

/** By code and reason. */
export const PRIVATE_REASONS = { INVALID_RECIPIENT, ROUTING_UNAVAILABLE, ALREADY_PROCESSED };
