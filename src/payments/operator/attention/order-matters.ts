/** Finds what needs a person about orders of private mode: their rows tell, and the chain is not asked. */
import { formatAmount } from "../../../amount.ts";
import type { Assets } from "../../assets/assets.ts";
import { NOTED_KINDS } from "../../noted-matters.ts";
import type { PaymentStorage } from "../../payment-storage.ts";
import type { DepositRecord, HoldRecord, TransferRecord } from "../../tables/private.ts";
import { groupedBy } from "../../tables/read.ts";
import {
  matterId,
  type AttentionSource,
  type FoundMatter,
  type MatterAction,
  type MatterKind,
} from "./matter.ts";

type OrderReads = Pick<PaymentStorage, "orders">;

/** What a matter says besides whose it is. */
type OfOrder = Pick<FoundMatter, "kind" | "id" | "since" | "message" | "actions"> & {
  readonly order: string;
};

/** Adds the accounts. */
async function ofAccounts(storage: OrderReads, found: readonly OfOrder[]): Promise<readonly FoundMatter[]> {
  const ids = [...new Set(found.map(({ order }) => order))];
  const rows = ids.length === 0 ? [] : await storage.orders(ids);
  const accounts = new Map(rows.map(({ id, accountId }) => [id, accountId]));
  return found.map(({ order: transactionId, ...matter }) => {
    const accountId = accounts.get(transactionId);
    return { ...matter, transactionId, ...(accountId === undefined ? {} : { accountId }) };
  });
}

const HOLDS: Readonly<Record<string, string>> = {
  screening: "the host's screening refuses somebody who gave or gets, or nothing tells for an hour who gave",
  sender_frozen: "its sender cannot take what goes back: the account is frozen or given away",
  hold: "a person has asked for it",
};

/** One matter for each order, however many holds it has. */
export function heldOrders(storage: Pick<PaymentStorage, "openHolds"> & OrderReads): AttentionSource {
  return async (limit) => {
    const holds = await storage.openHolds(limit);
    const oldest = new Map(holds.toReversed().map((hold) => [hold.order, hold]));
    return ofAccounts(storage, [...oldest.values()].toReversed().map(heldOrder));
  };
}

function heldOrder({ order, reason, since }: HoldRecord): OfOrder {
  return {
    kind: "held",
    id: matterId("held", order),
    order,
    since,
    message: `order ${order} is held: ${HOLDS[reason] ?? reason}`,
    actions: ["release", "decline", "refundTo"],
  };
}

/** One matter for each order whose sums do not close. */
export function missingMoney(
  storage: Pick<PaymentStorage, "shortLevels"> & OrderReads,
  assets: Pick<Assets, "ofMint">,
): AttentionSource {
  return async (limit) => {
    const short = (await storage.shortLevels(limit)).filter(({ missing }) => missing > 0n);
    const byOrder = groupedBy(short, "order");
    const found = [...byOrder].map(([order, levels]): OfOrder => {
      const amounts = levels.map(({ mint, missing }) => {
        const asset = assets.ofMint(mint);
        return asset === null
          ? `${missing} of ${mint}`
          : `${formatAmount(missing, asset.decimals)} ${asset.symbol}`;
      });
      return {
        kind: "missing",
        id: matterId("missing", order),
        order,
        since: null,
        message:
          `${amounts.join(", ")} of order ${order} have left its address, and nobody here has sent them: ` +
          "find out who else holds its key; conclude writes them off",
        actions: ["conclude"],
      };
    });
    return ofAccounts(storage, found);
  };
}

/** What was noted, and dropped by nobody. */
export function notedMatters(storage: Pick<PaymentStorage, "openMatters">): AttentionSource {
  return async (limit) => {
    const open = await storage.openMatters();
    return open
      .filter(({ kind, state, id }) => state === "waiting" && NOTED_KINDS.has(kind) && !id.startsWith(TOKENS))
      .slice(0, limit)
      .map(({ kind, id, transactionId, accountId, since, message }): FoundMatter => ({
        kind: kind as MatterKind,
        id,
        ...(transactionId === null ? {} : { transactionId }),
        ...(accountId === null ? {} : { accountId }),
        since,
        message,
        actions: ["drop"],
      }));
  };
}

const WAITING = {
  waiting_for_funds:
    "costs more than its order has reserved, or rent is over twice what it was: retry pays it at today's prices",
  waiting_for_price: "bears its cost in tokens, and no price of them is known: mend the price source",
} as const;

/** Transfers that were put off until a person or a price helps: one matter for each order. */
export function waitingTransfers(
  storage: Pick<PaymentStorage, "putOffTransfers"> & OrderReads,
  kind: keyof typeof WAITING,
): AttentionSource {
  return async (limit) => {
    const byOrder = groupedBy(await storage.putOffTransfers(kind, limit), "order");
    const found = [...byOrder.keys()].map((order): OfOrder => ({
      kind,
      id: matterId(kind, order),
      order,
      since: null,
      message: `what order ${order} is to send ${WAITING[kind]}`,
      actions: ["retry"],
    }));
    return ofAccounts(storage, found);
  };
}

/** Transfers that do not land. */
export function stuckPayments(storage: Pick<PaymentStorage, "stuckTransfers"> & OrderReads): AttentionSource {
  return async (limit) => ofAccounts(storage, (await storage.stuckTransfers(limit)).map(stuckPayment));
}

function stuckPayment({ id, order, kind, n, stuckSince, reason }: TransferRecord): OfOrder {
  const why = reason === null ? "" : ` (${reason})`;
  const wayOut: readonly MatterAction[] = kind !== "chunk" ? [] : n === 0 ? ["decline"] : ["foreclose"];
  return {
    kind: "stuck_payment",
    id: matterId("stuck_payment", id),
    order,
    since: stuckSince,
    message:
      `${kind} ${n} of order ${order} does not land${why} and is tried once an hour: raise fees.ceiling of the ledger, ` +
      "or find the endpoint that passes nothing on",
    actions: ["retry", ...wayOut],
  };
}

/** What the id of a matter of foreign tokens has before the order. */
const TOKENS_AT = "tokens@";
const TOKENS = matterId("unexplained", TOKENS_AT);
/** Named in a matter's message; anybody can invent mints. */
const MAX_NAMED = 10;
/** So many are looked through: strangers may fill addresses with accounts that hold no foreign mint. */
const PAGE = 500;
const MAX_PAGES = 20;

export function foreignTokensId(order: string): string {
  return matterId("unexplained", `${TOKENS_AT}${order}`);
}

/** The fact up to which time a person has dropped an order's foreign tokens. */
export function droppedTokensFact(order: string): string {
  return `tokensDropped:${order}`;
}

/**
 * One matter for each address that was sent tokens of foreign mints. It is over when they have left, or a person has dropped
 * it; of tokens that come later there is a new one.
 */
export function foreignTokens(
  storage: Pick<PaymentStorage, "uncountedDeposits" | "fact"> & OrderReads,
  assets: Pick<Assets, "ofMint">,
): AttentionSource {
  return async (limit) => {
    const byOrder = groupedBy(await foreignDeposits(storage, assets), "order");
    const found: OfOrder[] = [];
    for (const [order, came] of byOrder) {
      if (found.length >= limit) break;
      const droppedUpTo = Number((await storage.fact(droppedTokensFact(order))) ?? -1);
      const since = came.find(({ at }) => at > droppedUpTo)?.at;
      if (since !== undefined) found.push(foreignMatter(order, came, since));
    }
    return ofAccounts(storage, found);
  };
}

async function foreignDeposits(
  storage: Pick<PaymentStorage, "uncountedDeposits">,
  assets: Pick<Assets, "ofMint">,
): Promise<readonly DepositRecord[]> {
  const foreign: DepositRecord[] = [];
  let last: DepositRecord | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const rows = await storage.uncountedDeposits(PAGE, last);
    foreign.push(...rows.filter(({ mint }) => assets.ofMint(mint) === null));
    last = rows.at(-1);
    if (rows.length < PAGE) break;
  }
  return foreign;
}

function foreignMatter(order: string, came: readonly DepositRecord[], since: number): OfOrder {
  const mints = [...new Set(came.map(({ mint }) => mint))];
  const more = mints.length > MAX_NAMED ? ` and ${mints.length - MAX_NAMED} more` : "";
  return {
    kind: "unexplained",
    id: foreignTokensId(order),
    order,
    since,
    message:
      `the address of order ${order} was sent tokens that this service does not use: ` +
      `${mints.slice(0, MAX_NAMED).join(", ")}${more}. Once the order is over send them back (foreign), or drop the matter`,
    actions: ["foreign", "drop"],
  };
}

/**
 * The source of a matter: its kind, but the sources of foreign tokens and of what was noted share a kind. Strangers can
 * send tokens to any number of addresses; what is left out of those says nothing about the others.
 */
export function sourceOfMatter({ id, kind }: { readonly id: string; readonly kind: string }): string {
  return id.startsWith(TOKENS) ? TOKENS_AT : kind;
}
