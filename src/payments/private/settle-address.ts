/** Settling a deposit address whose order is over: a look at the chain, and the one payment that comes next. */
import type { DepositAddressEvent, Movement, SettlementParams } from "../../../machines/index.ts";
import type { DepositRecord, PaymentRecord } from "../../../storage/records.ts";
import type { PaymentStorage, PaymentTables, TransactionView } from "../../../storage/storage.ts";
import type { Address } from "../../address.ts";
import type { EffectOutcome } from "../../engine/index.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Clock } from "../../runtime.ts";
import { ledgerMint } from "../assets.ts";
import type { Assets } from "../assets.ts";
import { collectionPlan, collectMark, strayDeposits } from "./collect-strays.ts";
import type { DepositKeys } from "./deposit-keys.ts";
import { otherMints } from "./other-mints.ts";
import type { PaymentWorkflow } from "./payment-workflow.ts";
import { nextSettlementStep } from "./plan-settlement.ts";
import type { Holding, Marker } from "./plan-settlement.ts";
import { startPayment } from "./planned-payment.ts";
import type { PlannedPayment } from "./planned-payment.ts";
import type { RefundCost } from "./refund-cost.ts";
import { SCREENING } from "./screening.ts";
import type { ScreenPayers } from "./screening.ts";
import { readPlan } from "./stored-plan.ts";
import type { StoredPlan } from "./stored-plan.ts";
import { UNKNOWN_SPENDING, unknownSpending } from "./unknown-spending.ts";

/** What planning the next payment of an address leads to. */
export type Settled = EffectOutcome<DepositAddressEvent, PaymentTables>;

/** The effects by which an address plans its own payments. */
export interface AddressSettlement {
  /** The next step of an address whose order is over. */
  readonly settle: (address: string, params: SettlementParams) => Promise<Settled>;
  /** Brings what is beside the associated account there, by a block not older than `fromSlot`. */
  readonly collect: (address: string, params: { readonly fromSlot: number }) => Promise<Settled>;
}

interface AddressInHand {
  readonly deposit: DepositRecord;
  readonly view: TransactionView;
}

export function addressSettlement({
  storage,
  ledger,
  clock,
  assets,
  keys,
  sponsor,
  treasury,
  payments,
  refundCost,
  mayServePayers,
}: {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly assets: Assets;
  readonly keys: DepositKeys;
  readonly sponsor: Address;
  readonly treasury: Address;
  readonly payments: PaymentWorkflow;
  readonly refundCost: RefundCost;
  readonly mayServePayers: ScreenPayers;
}): AddressSettlement {
  const mints = assets.tokens.map(ledgerMint).filter((mint) => mint !== null);

  const load = async (address: string): Promise<AddressInHand> => {
    const [deposit] = await storage.deposits([address]);
    const view = deposit === undefined ? null : await storage.transaction(deposit.transactionId);
    if (deposit === undefined || view === null) throw new Error(`deposit address ${address} is not stored`);
    return { deposit, view };
  };

  const termsOf = async ({ id }: DepositRecord) => ({
    ...{ address: id as Address, sponsor, rentMinimum: await ledger.rentMinimum(0) },
  });

  /** Starts a payment of the address's own, unless the chain shows one that nobody here knows of. */
  const pay = async (
    { deposit, view }: AddressInHand,
    planned: Omit<PlannedPayment, "transactionId" | "address" | "isAwaited">,
    eventOf: (payment: string) => DepositAddressEvent,
  ): Promise<Settled> => {
    if ((await unknownSpending({ storage, ledger }, deposit.id)).length > 0) return held(UNKNOWN_SPENDING);
    const { start, write } = startPayment(
      payments,
      { ...planned, transactionId: view.transaction.id, address: deposit.id, isAwaited: false },
      clock.now(),
    );
    return { event: eventOf(start.id), starts: [start], writes: [write] };
  };

  /** Null when there is nothing to collect. */
  const collectNow = async (
    inHand: AddressInHand,
    tokens: Assets["tokens"],
    fromSlot: number,
  ): Promise<Settled | null> => {
    const { id } = inHand.deposit;
    const { slot, deposits } = await strayDeposits({ ledger, assets }, id, tokens, "finalized");
    if (slot < fromSlot) throw new Error(`the ledger shows ${id} as it was before slot ${fromSlot}`);
    const [first] = deposits;
    if (first === undefined) return null;
    const mark = collectMark(inHand.view.payments);
    const plan = collectionPlan(await termsOf(inHand.deposit), deposits, mark);
    return pay(inHand, { kind: "collect", mark, mint: first.mint, legs: [], plan }, (payment) => ({
      type: "COLLECTION_PLANNED",
      payment,
    }));
  };

  /** Markers of the address that still hold lamports, whoever put them there. */
  const markersOf = async (deposit: DepositRecord, rows: readonly PaymentRecord[]): Promise<Marker[]> => {
    const marks = rows.filter(({ kind }) => kind !== "sweep").map(({ mark }) => mark);
    const addresses = marks.map((mark) =>
      ledger.markerAddress(deposit.id as Address, keys.seed(deposit, mark)),
    );
    const { funds } = await ledger.funds(addresses, [], "finalized");
    return marks
      .map((mark, index) => ({ mark, lamports: funds[index]?.lamports ?? 0n }))
      .filter(({ lamports }) => lamports > 0n);
  };

  /** Each asset at the address with what of it is whose. Only what the next step may depend on is asked for. */
  const holdingsOf = async (
    { deposit, view }: AddressInHand,
    amounts: readonly bigint[],
    markers: readonly Marker[],
    fee: string,
  ): Promise<readonly Holding[]> => {
    const landed = view.payments
      .filter(({ status }) => status === "finalized")
      .map(({ kind, mint, plan }) => ({ kind, mint, plan: readPlan(plan) }));
    const plans = landed.map(({ plan }) => plan);
    const hasAccount = async (mint: Address): Promise<boolean> => {
      const [isThere] = await ledger.haveTokenAccounts([deposit.id as Address], mint);
      return isThere === true;
    };
    return Promise.all(
      assets.tokens.map(async (asset, index): Promise<Holding> => {
        const mint = ledgerMint(asset);
        const balance = amounts[index] ?? 0n;
        const withheld = landed
          .filter((row) => row.kind === "refund" && row.mint === asset.mint)
          .reduce((sum, { plan }) => sum + BigInt(plan.withheld), 0n);
        const owed =
          (asset.mint === deposit.mint ? BigInt(fee) : 0n) + withheld - sumOf(plans, "fee", asset.mint);
        const kept = owed > 0n ? owed : 0n;
        const lent = sumOf(plans, "loan", asset.mint) - sumOf(plans, "repayment", asset.mint);
        return {
          ...{ asset, balance, kept, lent },
          // Refunds are priced where something is left to refund.
          refundCost:
            balance - kept - lent > 0n ? await refundCost(asset, view.transaction.sender as Address) : 0n,
          // Accounts are closed by a sweep, and there is none without a marker. One that holds something is there.
          hasAccount: mint !== null && markers.length > 0 && (balance > 0n || (await hasAccount(mint))),
        };
      }),
    );
  };

  return {
    async collect(address, { fromSlot }) {
      const inHand = await load(address);
      // Whatever is wrong with it, its order has to end; settling says what an operator must see.
      if (inHand.deposit.heldReason !== null) return { event: { type: "NOTHING_STRAY" } };
      const expected = assets.named(inHand.deposit.mint);
      const collected = await collectNow(inHand, [expected], fromSlot);
      return collected?.event?.type === "COLLECTION_PLANNED"
        ? collected
        : { event: { type: "NOTHING_STRAY" } };
    },

    async settle(address, { settledSlot, landed, fee, mayRefund, isReleased }) {
      const inHand = await load(address);
      const { deposit, view } = inHand;
      if (deposit.heldReason !== null) return held(deposit.heldReason);
      const { transaction, payments: rows } = view;
      // A payment is stored as final before the address has heard of it; until then the sums would not be right.
      if (rows.filter(({ status }) => status === "finalized").length !== landed) {
        throw new Error(`deposit address ${address} has not been told of all its payments yet`);
      }
      const collected = await collectNow(inHand, assets.tokens, settledSlot);
      if (collected !== null) return collected;

      const { slot, funds } = await ledger.funds([address as Address], mints, "finalized");
      if (slot < settledSlot) {
        throw new Error(`the ledger shows ${address} as it was before its last payment`);
      }
      const amounts = [funds[0]?.lamports ?? 0n, ...(funds[0]?.tokens ?? [])];
      const ours = Object.fromEntries(assets.tokens.map(({ mint }, index) => [mint, String(amounts[index])]));
      const markers = await markersOf(deposit, rows);

      const step = nextSettlementStep({
        terms: await termsOf(deposit),
        sender: transaction.sender as Address,
        treasury,
        holdings: await holdingsOf(inHand, amounts, markers, fee),
        markers,
        refunds: rows.filter(({ kind }) => kind === "refund").length,
        sweeps: rows.filter(({ kind }) => kind === "sweep").length,
        mayRefund,
      });
      if (step.do === "wait" || step.do === "rest") {
        // What else was sent here is written down once nothing is left to be done.
        const balances = { ...(await otherMints({ ledger, assets }, address)), ...ours };
        return { event: { type: step.do === "wait" ? "MUST_WAIT" : "AT_REST", slot, balances } };
      }
      if (step.do === "refund" && !isReleased && !(await mayServePayers(address, transaction.id))) {
        return held(SCREENING);
      }
      const type = step.do === "refund" ? "REFUND_PLANNED" : "SWEEP_PLANNED";
      const planned = {
        kind: step.do,
        mark: step.mark,
        mint: step.asset.mint,
        legs: [{ address: step.to, amount: step.amount }],
        plan: step.plan,
      };
      return pay(inHand, planned, (payment) => ({ type, payment, slot, balances: ours }));
    },
  };
}

function held(reason: string): Settled {
  return { event: { type: "HELD", reason } };
}

function sumOf(plans: readonly StoredPlan[], kind: Movement["kind"], mint: string): bigint {
  return plans
    .flatMap(({ movements }) => movements)
    .filter((each) => each.kind === kind && each.mint === mint)
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}
