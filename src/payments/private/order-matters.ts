/** Finds what needs a person about orders of private mode: their rows tell, and the chain is not asked. */
import { formatAmount } from "../../core/amount.ts";
import { smallestAmount, type Assets } from "../frame/assets/assets.ts";
import { NOTED_KINDS } from "./noted-matters.ts";
import type { PrivateStorage } from "./private-storage.ts";
import type { DepositRecord, HoldRecord, TransferRecord } from "./tables.ts";
import { groupedBy } from "../frame/tables/read.ts";
import {
  matterId,
  sourceOfMatter,
  uncountedTokensId,
  type AttentionSource,
  type FoundMatter,
  type MatterAction,
  type MatterKind,
} from "../frame/acts/matter.ts";

/** Every source of matters about orders. */
export function orderMatters(
  storage: PrivateStorage,
  assets: Pick<Assets, "ofMint">,
): readonly AttentionSource[] {
  return [
    heldOrders(storage),
    missingMoney(storage, assets),
    notedMatters(storage),
    uncountedTokens(storage, assets),
    waitingTransfers(storage, "waiting_for_funds"),
    waitingTransfers(storage, "waiting_for_price"),
    stuckPayments(storage),
  ];
}

type OrderReads = Pick<PrivateStorage, "orders">;

/** A matter of an order, before the account of the order is added. */
type OfOrder = Pick<FoundMatter, "kind" | "id" | "since" | "message" | "actions" | "dropFact"> & {
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
  address_frozen: "the account that holds its tokens is frozen or given away",
  address_missing:
    "the account that holds its tokens is gone, though nothing of the service closes it before everything is paid",
  hold: "a person has asked for it",
};

/** One matter for each order, however many holds it has. */
export function heldOrders(storage: Pick<PrivateStorage, "openHolds"> & OrderReads): AttentionSource {
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
  storage: Pick<PrivateStorage, "shortLevels"> & OrderReads,
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

/** Noted matters that nobody has dropped. */
export function notedMatters(storage: Pick<PrivateStorage, "openMatters">): AttentionSource {
  return async (limit) => {
    const open = await storage.openMatters();
    return open
      .filter(
        ({ kind, state, id }) =>
          state === "waiting" && NOTED_KINDS.has(kind) && sourceOfMatter({ id, kind }) === kind,
      )
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
  storage: Pick<PrivateStorage, "putOffTransfers"> & OrderReads,
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
export function stuckPayments(storage: Pick<PrivateStorage, "stuckTransfers"> & OrderReads): AttentionSource {
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
      "or find the endpoint that passes nothing on, or shows accounts otherwise than they are",
    actions: ["retry", ...wayOut],
  };
}

/** Named in a matter's message; anybody can invent mints. */
const MAX_NAMED = 10;
/** The most rows that are looked through: strangers may fill addresses with accounts of dust. */
const PAGE = 500;
const MAX_PAGES = 20;

/** The fact up to which time a person has dropped an order's tokens that do not count. */
function droppedTokensFact(order: string): string {
  return `tokensDropped:${order}`;
}

/**
 * One matter for each address that was sent tokens of foreign mints, or an asset where it does not count (P13). It is over when
 * they have left, or a person has dropped it; of tokens that come later there is a new one.
 */
export function uncountedTokens(
  storage: Pick<PrivateStorage, "uncountedDeposits" | "fact"> & OrderReads,
  assets: Pick<Assets, "ofMint">,
): AttentionSource {
  return async (limit) => {
    const byOrder = groupedBy(await uncountedDeposits(storage, assets), "order");
    const found: OfOrder[] = [];
    for (const [order, came] of byOrder) {
      if (found.length >= limit) break;
      const droppedUpTo = Number((await storage.fact(droppedTokensFact(order))) ?? -1);
      const since = came.find(({ at }) => at > droppedUpTo)?.at;
      if (since !== undefined) found.push(uncountedMatter(assets, { order, came, since }));
    }
    return ofAccounts(storage, found);
  };
}

async function uncountedDeposits(
  storage: Pick<PrivateStorage, "uncountedDeposits">,
  assets: Pick<Assets, "ofMint">,
): Promise<readonly DepositRecord[]> {
  const uncounted: DepositRecord[] = [];
  let last: DepositRecord | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const rows = await storage.uncountedDeposits(PAGE, last);
    uncounted.push(...rows.filter((row) => !isDust(assets, row)));
    last = rows.at(-1);
    if (rows.length < PAGE) break;
  }
  return uncounted;
}

/** Whether an amount is below the smallest of its asset. A foreign mint has no smallest amount: its worth is unknown. */
function isDust({ ofMint }: Pick<Assets, "ofMint">, { mint, amount }: DepositRecord): boolean {
  const token = ofMint(mint);
  return token !== null && amount < smallestAmount(token);
}

interface UncountedTokens extends Pick<OfOrder, "order"> {
  readonly came: readonly DepositRecord[];
  readonly since: number;
}

function uncountedMatter(
  { ofMint }: Pick<Assets, "ofMint">,
  { order, came, since }: UncountedTokens,
): OfOrder {
  const mints = [...new Set(came.map(({ mint }) => mint))];
  const foreign = mints.filter((mint) => ofMint(mint) === null);
  const own = mints.flatMap((mint) => ofMint(mint)?.symbol ?? []);
  const more = foreign.length > MAX_NAMED ? ` and ${foreign.length - MAX_NAMED} more` : "";
  const unused = `tokens that this service does not use: ${foreign.slice(0, MAX_NAMED).join(", ")}${more}`;
  const parts = [
    { mints: own, action: "collect", says: `${own.join(", ")} in accounts in which it does not count` },
    { mints: foreign, action: "foreign", says: unused },
  ] as const;
  const told = parts.filter((part) => part.mints.length > 0);
  const actions = told.map(({ action }) => action);
  return {
    kind: "unexplained",
    id: uncountedTokensId(order),
    order,
    since,
    message:
      `the address of order ${order} was sent ${told.map(({ says }) => says).join(", and ")}. Once the order is over send them back ` +
      `(${actions.join(", ")}), or drop the matter`,
    actions: [...actions, "drop"],
    dropFact: droppedTokensFact(order),
  };
}
