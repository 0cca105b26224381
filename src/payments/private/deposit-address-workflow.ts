/** The workflow of `deposit-address`: effects, watches, and the ledger entries that its steps write. */
import type {
  DepositAddressContext,
  DepositAddressEvent,
} from "../../../machines/deposit-address-context.ts";
import { depositAddress } from "../../../machines/deposit-address.ts";
import type { Movement } from "../../../machines/private-messages.ts";
import type { PaymentTables } from "../tables.ts";
import type { EntryRecord } from "../tables/deposits.ts";
import type { PaymentWrite } from "../payment-storage.ts";
import { workflow, type PreviousInstance, type Workflow, type MigratedInstance } from "../../engine/index.ts";
import { eventsOfStep } from "./order-events.ts";
import type { ReturnHandler } from "./return-tokens.ts";
import type { PayerCheck } from "./screen-payers.ts";
import { SCREENING } from "../recipients/recipients.ts";
import { releaseShareOfDay, releaseShare } from "../purses/sponsor-limit.ts";
import type { AddressSettlement } from "./settle-address.ts";
import type { Address } from "../../address.ts";

export type DepositAddressWorkflow = Workflow<typeof depositAddress, PaymentTables>;

/** States of an address that still waits for its deposit. */
const WAITING: ReadonlySet<unknown> = new Set(["waiting", "collecting"]);
/** States of an address that an operator has to look at. */
const HELD: ReadonlySet<unknown> = new Set(["held", "heldBack"]);

interface AddressEffects {
  readonly settlement: AddressSettlement;
  readonly sendBack: ReturnHandler;
  readonly mayServePayers: PayerCheck;
  /** The transaction that the address belongs to. */
  readonly orderOf: (address: string) => Promise<string>;
  /** The number of steps that the address has made. */
  readonly versionOf: (address: string) => Promise<number>;
}

export function depositAddressWorkflow({
  settlement,
  sendBack,
  mayServePayers,
  orderOf,
  versionOf,
}: AddressEffects): DepositAddressWorkflow {
  return workflow(depositAddress)<PaymentTables>({
    version: 5,
    migrate: {
      1: fromFirstVersion,
      // The second version did not hear REDIRECT while it waited or spent; what it stored is the same.
      2: ({ context }: PreviousInstance<DepositAddressContext>) => ({ context }),
      // Nor did the third one hear PAID_ELSEWHERE while it looked for strays.
      3: ({ context }: PreviousInstance<DepositAddressContext>) => ({ context }),
      // Nor did the fourth one hear OTHER_MINTS_READ.
      4: ({ context }: PreviousInstance<DepositAddressContext>) => ({ context }),
    },
    effects: {
      planSettlement: (params, { instance }) => settlement.settle(instance, params),
      planCollection: (params, { instance }) => settlement.collect(instance, params),
      planReturn: (params, { instance }) => sendBack(instance, params),
      screen: async (_params, { instance }) => {
        // A verdict on payers whom an operator has let pass meanwhile is asked for again.
        const expectedVersion = await versionOf(instance);
        const isCleared = await mayServePayers(instance, await orderOf(instance));
        const event = isCleared
          ? ({ type: "CLEARED" } as const)
          : ({ type: "HELD", reason: SCREENING } as const);
        return { event, expectedVersion };
      },
    },
    watches: {
      deposits: ({ address }) => address,
      recentDeposits: ({ address }) => address,
      lateDeposits: ({ address }) => address,
      slowDeposits: ({ address }) => address,
    },
    project: ({ id, version, before, after, event }, at) => {
      if (before === null) return [];
      const { context } = after;
      const writes: PaymentWrite[] = [];
      if (WAITING.has(stateOf(before.value)) && !WAITING.has(stateOf(after.value))) {
        writes.push({ table: "deposits", id, set: { waitEndedAt: at } }, releaseShare(context.order, at));
      }
      const lines = ledgerLines({ address: id, at }, { before: before.context, after: context }, event);
      const isHeld = HELD.has(after.value) && !HELD.has(before.value);
      if (isHeld) writes.push({ table: "deposits", id, set: { heldReason: context.heldReason } });
      if (before.value === "settling" && event?.type === "AT_REST" && !event.isBound) {
        writes.push({ table: "reservations", id: context.order, set: { releasedAt: at } });
        writes.push(releaseShareOfDay(context.order, at));
      }
      return [
        ...writes,
        ...otherMintsLine({ address: id, at }, { before: before.context, after: context }),
        ...lines.map((insert): PaymentWrite => ({ table: "entries", insert })),
        ...eventsOfStep(context, { version, isHeld, lines }),
      ];
    },
  });
}

interface ContextChange {
  readonly before: DepositAddressContext;
  readonly after: DepositAddressContext;
}

/** Tells the operator of tokens that are none of the assets when more of them come, and no more when all have left. */
function otherMintsLine(
  { address, at }: Pick<EntryRecord, "address" | "at">,
  { before, after }: ContextChange,
): readonly PaymentWrite[] {
  const others = Object.keys(after.received).filter((mint) => after.smallest[mint] === undefined);
  const haveCome = others.some((mint) => after.received[mint] !== before.received[mint]);
  if (haveCome) return [{ table: "deposits", id: address, set: { otherMintsAt: at } }];
  const areThere = ({ received, spent }: DepositAddressContext): boolean =>
    others.some((mint) => BigInt(received[mint] ?? "0") > BigInt(spent[mint] ?? "0"));
  const haveLeft = areThere(before) && !areThere(after);
  return haveLeft ? [{ table: "deposits", id: address, set: { otherMintsAt: null } }] : [];
}

/** Entries that a step adds to the ledger of its address. */
function ledgerLines(
  { address, at }: Pick<EntryRecord, "address" | "at">,
  { before, after }: ContextChange,
  event: DepositAddressEvent | null,
): readonly EntryRecord[] {
  const line = { address, at, signature: null, payer: null, decimals: null };
  const lines: EntryRecord[] = [];
  for (const [mint, total] of Object.entries(after.received)) {
    const amount = BigInt(total) - BigInt(before.received[mint] ?? "0");
    // The total received only grows, so the total makes the id of the entry unique.
    if (amount > 0n) {
      lines.push({ ...line, id: `${address}:${mint}:${total}`, kind: "deposit", mint, amount });
    }
  }
  if (event?.type === "PAYMENT_LANDED") {
    const { payment, signature, movements } = event;
    movements.forEach(({ kind, mint, amount }: Movement, index) => {
      lines.push({ ...line, id: `${payment}:${index}`, signature, kind, mint, amount: BigInt(amount) });
    });
  } else {
    // What the address has paid for a recipient's token account is the recipient's, too.
    for (const [mint, total] of Object.entries(after.spent)) {
      const amount = BigInt(total) - BigInt(before.spent[mint] ?? "0");
      if (amount > 0n) lines.push({ ...line, id: `${address}:rent:${total}`, kind: "payout", mint, amount });
    }
  }
  return lines;
}

/** The outermost state. */
function stateOf(value: unknown): unknown {
  return typeof value === "string" ? value : Object.keys(value as object)[0];
}

/** The context of the first version, in which an operator's word stayed for good, and served later payers too. */
interface FirstContext extends DepositAddressContext {
  readonly isReleased: boolean;
  readonly refundTo: Address | null;
}

/** An operator's word that the first version kept covers what that version had counted, and no more. */
export function fromFirstVersion({
  id,
  context: { isReleased, refundTo, ...context },
  now,
}: PreviousInstance<FirstContext>): MigratedInstance<never, DepositAddressContext, PaymentTables> {
  if (!isReleased) return { context };
  const { received, spent } = context;
  const left = Object.entries(received).map(([mint, all]): [string, string] => [
    mint,
    String(BigInt(all) - BigInt(spent[mint] ?? "0")),
  ]);
  const word = {
    id: `${id}:1`,
    address: id,
    step: 1,
    at: now,
    slot: null,
    signatures: [],
    came: received,
    refundTo,
    allowed: refundTo === null ? null : Object.fromEntries(left),
  };
  return { context, writes: [{ table: "vouchings", insert: word }] };
}
