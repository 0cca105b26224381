/** An order as a tree: its chunks and transfers with their attempts, its levels, holds and acts, its notices with their deliveries. */
import type { InspectedPaymentParts } from "../../payments/payment-storage.ts";
import type { AttemptRecord } from "../../payments/frame/tables/attempts.ts";
import type { NoticeRecord } from "../../payments/frame/tables/notices.ts";
import type {
  ActRecord,
  ChunkRecord,
  HoldRecord,
  LevelRecord,
  OrderedTransaction,
  OrderView,
  TransferRecord,
} from "../../payments/private/tables.ts";
import type { DeliveryRecord } from "../../payments/webhooks/tables.ts";
import { amountWords, assetOf } from "./read-money.ts";

/** A branch of an order's tree. */
export interface OrderPart {
  /** The kind, such as `chunk 0`. */
  readonly is: string;
  /** The instance with a page of its own; null where the branch has none. */
  readonly id: string | null;
  /** The webhook of a delivery; null for any other branch. */
  readonly webhook: string | null;
  readonly state: string;
  /** A short addition, such as a signature; null without one. */
  readonly note: string | null;
  readonly below: readonly OrderPart[];
}

/** A payroll has hundreds of rows, and its page says how many more there are. */
const MAX_BRANCHES = 50;

export async function readOrderTree(
  payments: InspectedPaymentParts,
  { transaction, order }: OrderedTransaction,
): Promise<OrderPart> {
  const { reads } = payments;
  const { id, status, type, mode, signature } = transaction;
  const [notices, deliveries, attempts] = await Promise.all([
    reads.notices(id),
    reads.deliveries(id),
    order === null ? [] : reads.attemptsOfAny(order.transfers.map((transfer) => transfer.id)),
  ]);
  const told = bounded(notices, "notices", (notice) =>
    noticeBranch(
      notice,
      deliveries.filter(({ noticeId }) => noticeId === notice.id),
    ),
  );
  const own = order === null ? [] : [addressBranch(payments, order, attempts)];
  const note = signature === null ? null : `signature ${signature}`;
  return branch({ is: `${type}, ${mode} mode`, id, state: status, note, below: [...own, ...told] });
}

function branch(own: Pick<OrderPart, "is" | "state"> & Partial<OrderPart>): OrderPart {
  return { id: null, webhook: null, note: null, below: [], ...own };
}

function bounded<Item>(
  items: readonly Item[],
  name: string,
  branchOf: (item: Item) => OrderPart,
): readonly OrderPart[] {
  const more = items.length - MAX_BRANCHES;
  const shown = items.slice(0, MAX_BRANCHES).map(branchOf);
  return more > 0 ? [...shown, branch({ is: `${more} more ${name}`, state: "not shown here" })] : shown;
}

function addressBranch(
  payments: InspectedPaymentParts,
  { order, ...view }: OrderView,
  attempts: readonly AttemptRecord[],
): OrderPart {
  const transferBranch = (transfer: TransferRecord): OrderPart =>
    branchOfTransfer(
      transfer,
      attempts.filter((attempt) => attempt.transfer === transfer.id),
    );
  return branch({
    is: `address ${order.address}`,
    state: order.overState === null ? order.state : `${order.state}, ${order.overState}`,
    note: order.loanBack === null ? null : `loan back by ${order.loanBack}`,
    below: [
      ...view.holds.map(holdBranch),
      ...view.levels.map((level) => levelBranch(payments, level)),
      ...bounded(view.chunks, "chunks", chunkBranch),
      ...view.acts.map((act) => actBranch(payments, act)),
      ...bounded(view.transfers, "transfers", transferBranch),
    ],
  });
}

function holdBranch({ reason, endedAt }: HoldRecord): OrderPart {
  const state = endedAt === null ? "open" : `released ${new Date(endedAt).toISOString()}`;
  return branch({ is: `hold: ${reason}`, state });
}

function levelBranch(
  payments: InspectedPaymentParts,
  { mint, received, out, missing }: LevelRecord,
): OrderPart {
  const words = (amount: bigint): string => amountWords(amount, assetOf(payments, mint));
  const note = missing > 0n ? `${words(missing)} missing` : null;
  return branch({ is: "level", state: `${words(received)} came, ${words(out)} went back`, note });
}

function chunkBranch({ k, wanted, length, signature }: ChunkRecord): OrderPart {
  const state = length === null ? `undecided, outcome ${wanted} is wanted` : `decided, outcome ${length}`;
  return branch({ is: `chunk ${k}`, state, note: signature === null ? null : `signature ${signature}` });
}

function actBranch(payments: InspectedPaymentParts, { n, mint, sum, to, state }: ActRecord): OrderPart {
  return branch({ is: `act r${n}`, state, note: `${amountWords(sum, assetOf(payments, mint))} to ${to}` });
}

function branchOfTransfer(
  { id, kind, n, state, reason }: TransferRecord,
  attempts: readonly AttemptRecord[],
): OrderPart {
  const below = bounded(attempts, "attempts", attemptBranch);
  return branch({ is: `transfer: ${kind} ${n}`, id, state, note: reason, below });
}

function attemptBranch({ id, error, takenAt }: AttemptRecord): OrderPart {
  const sent = takenAt === null ? "signed" : "taken by an endpoint";
  return branch({
    is: "attempt",
    state: error === null ? sent : `failed: ${error}`,
    note: `signature ${id}`,
  });
}

function noticeBranch({ event }: NoticeRecord, deliveries: readonly DeliveryRecord[]): OrderPart {
  const state = deliveries.length === 0 ? "for no webhook" : `for ${deliveries.length}`;
  return branch({ is: `notice: ${event}`, state, below: bounded(deliveries, "deliveries", deliveryBranch) });
}

function deliveryBranch({ id, webhookId, status, attempts }: DeliveryRecord): OrderPart {
  const note = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  return branch({ is: "delivery", id, webhook: webhookId, state: status, note });
}
