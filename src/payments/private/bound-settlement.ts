/**
 * Adjusts the reservations of an order while its address is settled: the sponsor's reservation shrinks to the existing
 * markers, and the account's share ends two hours after the payouts, whatever is sent to the address meanwhile.
 */
import type { DepositAddressEvent } from "../../../machines/deposit-address-context.ts";
import type { DepositRecord } from "../tables/deposits.ts";
import type { ReservationRecord } from "../tables/limits.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { TransactionView } from "../tables/orders.ts";
import type { Address } from "../../address.ts";
import { agingTime } from "../../clock-trust.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Clock } from "../../runtime.ts";
import type { Assets } from "../assets/assets.ts";
import { standingCost } from "../outgoing/plans/routing-cost.ts";
import { standingMarkers } from "../outgoing/plans/order-markers.ts";
import {
  boundBy,
  boundShareId,
  COUNTED_MS,
  lateShareId,
  mostBound,
  releaseUncounted,
} from "../purses/sponsor-limit.ts";
import { promisesAt } from "../swap-provider/reserve.ts";
import type { AddressSettlement, SettlementOutcome } from "./settle-address.ts";

interface BindingParts {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly assets: Assets;
  readonly sponsor: Address;
  readonly treasury: Address;
}

/** An address in the middle of its settlement, and the step that was planned. */
interface SettledOrder {
  readonly deposit: DepositRecord;
  readonly view: TransactionView;
  readonly event: DepositAddressEvent;
  /** Whether an operator has let its money pass. */
  readonly isReleased: boolean;
}

/** The settlement, which also adjusts reservations in the commit of each step. */
export function boundSettlement(settlement: AddressSettlement, parts: BindingParts): AddressSettlement {
  return {
    collect: (address, params) => settlement.collect(address, params),
    settle: async (address, params) => {
      const settled = await settlement.settle(address, params);
      const [deposit] = await parts.storage.deposits([address]);
      const view = deposit === undefined ? null : await parts.storage.transaction(deposit.transactionId);
      const { event } = settled;
      if (event === undefined || deposit === undefined || view === null) return settled;
      const isReleased = (await parts.storage.vouchings(deposit.id)).length > 0;
      return bound(parts, { deposit, view, event, isReleased }, settled);
    },
  };
}

async function bound(
  parts: BindingParts,
  order: SettledOrder,
  settled: SettlementOutcome,
): Promise<SettlementOutcome> {
  const { event } = order;
  const late = event.type === "REFUND_PLANNED" ? await countLate(parts, order) : [];
  // The account's other orders bind its whole share already: the refund is made once they have ended.
  if (late === null && event.type === "REFUND_PLANNED") {
    const { slot, balances } = event;
    return { event: { type: "MUST_WAIT", slot, balances } };
  }
  const counted = await countedWrites(parts, order);
  const reserved = await reservedWrites(parts, order);
  return { ...settled, writes: [...(settled.writes ?? []), ...(late ?? []), ...counted, ...reserved] };
}

/** The sponsor's own reservation becomes what stands; where all is gone, the chart's step releases it. */
async function reservedWrites(
  { storage, ledger, assets, sponsor, treasury }: BindingParts,
  { deposit, view, event }: SettledOrder,
): Promise<readonly PaymentWrite[]> {
  const isAtRest = event.type === "AT_REST";
  const isRefundDue = event.type === "REFUND_PLANNED" || event.type === "MUST_WAIT" || event.type === "HELD";
  if (!isRefundDue && !(isAtRest && event.isBound)) return [];
  const row = await storage.reservation(deposit.transactionId);
  // What was released is bound again by money that came late, and not by an operator's hold.
  const binds = event.type === "REFUND_PLANNED" || isAtRest;
  if (row === null || (row.releasedAt !== null && !binds)) return [];
  const standing = standingMarkers(view.payments);
  const amount = await standingCost(
    ledger,
    { sponsor, treasury },
    {
      asset: assets.named(deposit.mint),
      // A marker that another copy of the database made stands as well.
      markers: isAtRest ? Math.max(standing, 1) : standing,
      refunds: isRefundDue ? 1 : 0,
    },
  );
  if (row.releasedAt === null && row.amount === amount) return [];
  return [changed(row, { amount, releasedAt: null })];
}

/** From the first step of its settlement on the order counts for two hours, or not at all where nothing was ever bound. */
async function countedWrites(
  { storage, clock }: BindingParts,
  { deposit, view, event }: SettledOrder,
): Promise<readonly PaymentWrite[]> {
  const row = await storage.reservation(boundShareId(deposit.transactionId));
  if (row === null || row.releasedAt !== null || row.lapsesAt !== null) return [];
  const now = clock.now();
  const wasNeverBound = event.type === "AT_REST" && !event.isBound && view.payments.length === 0;
  return [changed(row, wasNeverBound ? { releasedAt: now } : { lapsesAt: now + COUNTED_MS })];
}

/**
 * An order that was over without a deposit counts nothing. The first refund of money that comes to it all the same does,
 * for two hours; later ones do not, so that no stranger can take up an account's share. Null where the share has no room.
 */
async function countLate(
  { storage, ledger, clock, assets, sponsor, treasury }: BindingParts,
  { deposit, isReleased }: SettledOrder,
): Promise<readonly PaymentWrite[] | null> {
  const { transactionId, accountId } = deposit;
  const row = await storage.reservation(boundShareId(transactionId));
  const hasCounted = row !== null && (row.releasedAt === null || row.lapsesAt !== null);
  const id = lateShareId(transactionId);
  if (hasCounted || (await storage.reservation(id)) !== null) return [];
  const asset = assets.named(deposit.mint);
  const [amount, { funds }, account] = await Promise.all([
    standingCost(ledger, { sponsor, treasury }, { asset, markers: 0, refunds: 1 }),
    ledger.funds([sponsor], [], "confirmed"),
    storage.account(accountId),
  ]);
  const [now, agedTo] = [clock.now(), agingTime(clock)];
  const resource = boundBy(sponsor, accountId);
  const total = mostBound(account?.tier ?? "free", funds[0]?.lamports ?? 0n);
  const others = await promisesAt(storage, agedTo).promised(resource);
  if (!isReleased && others + amount > total) return null;
  const insert = {
    id,
    version: 1,
    resource,
    amount,
    createdAt: now,
    lapsesAt: now + COUNTED_MS,
    releasedAt: null,
  };
  const room = isReleased ? {} : { atMost: { total } };
  return [...(await releaseUncounted(storage, resource, agedTo)), { table: "reservations", insert, ...room }];
}

function changed(
  { id, version }: ReservationRecord,
  set: Partial<Pick<ReservationRecord, "amount" | "lapsesAt" | "releasedAt">>,
): PaymentWrite {
  return { table: "reservations", id, set, expectedVersion: version };
}
