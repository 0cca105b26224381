/** Decides about held deposit addresses: release, refund to a new receiver, or write-off. */
import { commitOne } from "../../../../storage/decided.ts";
import { WRITTEN_OFF, type DepositRecord } from "../../tables/deposits.ts";
import type { PaymentStorage, PaymentWrite } from "../../payment-storage.ts";
import { parseAddress, type Address } from "../../../address.ts";
import { isPaymentError } from "../../../errors.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { Clock } from "../../../runtime.ts";
import type { OrderedReturn, ReturnCommand } from "../../private/order-return.ts";
import type { SettlePaymentRequest, SettledPayment } from "../../private/settle-payment.ts";
import type { VouchingEvidence } from "../../private/vouched-funds.ts";
import { ReleaseRefused, type ReleasedDeposit, type ReleaseRequest } from "../../private/release-deposit.ts";
import { type ScreenAddress, checkWallet } from "../../recipients/recipients.ts";
import { releaseShareOfDay, releaseBound, releaseShare } from "../../purses/sponsor-limit.ts";
import { type WriteAct, OperatorRefused, privateModeIsOff } from "../act.ts";
import { TOKENS_AT } from "../attention/held-addresses.ts";
import { matterKey } from "../attention/matter.ts";
import type { ResolveContext } from "./command.ts";
import { decidedMeanwhile } from "./decisions.ts";

/** Decisions about deposit addresses, available while private mode is on. */
export interface DepositControl {
  readonly screen: ScreenAddress | null;
  /** Addresses of the service itself besides its deposit addresses: no refund goes there. */
  readonly ownAddresses: readonly string[];
  /** Whether the money of an address can be sent elsewhere in the state that its instance is in now. */
  readonly canRedirect: (deposit: DepositRecord) => Promise<boolean>;
  /** The present money, and its amounts in whole units by mint; null while a payment is being written down. */
  readonly moneyThere: (
    deposit: DepositRecord,
  ) => Promise<{ readonly money: VouchingEvidence; readonly shown: Readonly<Record<string, string>> } | null>;
  readonly release: (transactionId: string, order: ReleaseRequest) => Promise<ReleasedDeposit>;
  readonly returnTokens: (command: ReturnCommand) => Promise<OrderedReturn>;
  readonly settle: (settling: SettlePaymentRequest) => Promise<SettledPayment>;
}

interface DepositResolveParts {
  readonly storage: Pick<PaymentStorage, "deposits" | "reservation" | "commit">;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly writeAct: WriteAct;
  /** Null while private mode is off. */
  readonly control: DepositControl | null;
}

interface RedirectedRefund {
  readonly to: Address;
  /** The operator who requested the refund, when another operator confirms; null when one operator decides alone. */
  readonly requestedBy: string | null;
  /** The money that the requesting operator saw; null for the money there now. */
  readonly money: VouchingEvidence | null;
}

/** Carries out decisions about deposit addresses, each in one commit with its guard and its audit row. */
export class DepositResolveHandler {
  readonly #parts: DepositResolveParts;

  constructor(parts: DepositResolveParts) {
    this.#parts = parts;
  }

  /** Lets the address be signed for again. */
  async release(resolving: ResolveContext): Promise<void> {
    const { matter, by } = resolving;
    await this.#releaseBy(resolving, {
      refundTo: null,
      writesFor: ({ transactionId, explained, vouchedTime, vouchedFor }) => {
        const what = { id: matter.id, transactionId, explained, vouchedTime, vouchedFor };
        return [this.#parts.writeAct({ by, act: "release", what })];
      },
    });
  }

  /** Throws `OperatorRefused` unless money may be sent to `text`, and from this matter's address. Returns the address. */
  async checkReceiver(resolving: ResolveContext, text: string): Promise<Address> {
    const { storage, ledger } = this.#parts;
    const deposit = await this.#depositOf(resolving);
    const parsed = parseAddress(text);
    if ("fault" in parsed) throw new OperatorRefused(`address: ${text} is no address (${parsed.fault})`);
    const { address } = parsed;
    const isOurs =
      this.#control().ownAddresses.includes(address) || (await storage.deposits([address])).length > 0;
    if (isOurs) throw new OperatorRefused(`address: ${address} is one of the service's own`);
    await checkWallet(ledger, address).catch((error: unknown) => {
      if (!isPaymentError(error, "INVALID_RECIPIENT")) throw error;
      throw new OperatorRefused(
        `address: ${address} cannot be paid (${error.details.reason}): name a wallet`,
      );
    });
    await this.#screen(address, deposit.transactionId);
    if (!(await this.#control().canRedirect(deposit))) {
      throw new OperatorRefused(
        `${resolving.matter.id}: a payment of its order is signed or planned, so its money cannot be sent elsewhere: ` +
          "try again once the order is over",
      );
    }
    return address;
  }

  /** The present money, which another operator is asked to agree with. */
  async moneyThere(
    resolving: ResolveContext,
  ): Promise<NonNullable<Awaited<ReturnType<DepositControl["moneyThere"]>>>> {
    const there = await this.#control().moneyThere(await this.#depositOf(resolving));
    if (there !== null) return there;
    throw new OperatorRefused(`${resolving.matter.id}: it is at work: try again when it has come to rest`);
  }

  /** Releases the address, and has its money sent to `to`, which `checkReceiver` has returned. */
  async refundTo(resolving: ResolveContext, { to, requestedBy, money }: RedirectedRefund): Promise<void> {
    const { matter, by } = resolving;
    const asked = requestedBy === null ? {} : { requestedBy };
    await this.#releaseBy(resolving, {
      refundTo: { to, money },
      writesFor: ({ transactionId, explained, vouchedTime, vouchedFor, allowed }) => {
        const vouched = { explained, vouchedTime, vouchedFor };
        const what = { id: matter.id, transactionId, address: to, allowed, ...vouched, ...asked };
        return [this.#parts.writeAct({ by, act: "refund_to", what })];
      },
    });
  }

  /** Ends the matter: the address stays held, and what was reserved for its order is free. */
  async writeOff(resolving: ResolveContext): Promise<void> {
    const { matter, by, guard } = resolving;
    const { id, transactionId, heldReason, waitEndedAt } = await this.#depositOf(resolving);
    if (heldReason === null) throw new OperatorRefused(`${matter.id}: deposit address ${id} is not held`);
    const now = this.#parts.clock.now();
    const what = { id: matter.id, transactionId, heldReason };
    const writes: readonly PaymentWrite[] = [
      guard,
      { table: "deposits", id, set: { heldReason: WRITTEN_OFF } },
      { table: "reservations", id: transactionId, set: { releasedAt: now } },
      releaseShareOfDay(transactionId, now),
      ...(await releaseBound(this.#parts.storage, transactionId, now)),
      // The share of waiting orders ended when it stopped waiting.
      ...(waitEndedAt === null ? [releaseShare(transactionId, now)] : []),
      this.#parts.writeAct({ by, act: "write_off", what }),
    ];
    const result = await commitOne(this.#parts.storage, { writes });
    if (!result.ok) throw decidedMeanwhile(matter.id);
  }

  /** Ends the matter of foreign tokens: they stay where they are, and the next to come are a matter again. */
  async dropTokens(resolving: ResolveContext): Promise<void> {
    const { storage, writeAct } = this.#parts;
    const { matter, by, guard } = resolving;
    const { id, transactionId, version: expectedVersion } = await this.#depositOf(resolving);
    const what = { id: matter.id, transactionId };
    const writes: readonly PaymentWrite[] = [
      guard,
      { table: "deposits", id, set: { otherMintsAt: null }, expectedVersion },
      writeAct({ by, act: "drop", what }),
    ];
    if (!(await commitOne(storage, { writes })).ok) throw decidedMeanwhile(matter.id);
  }

  #control(): DepositControl {
    const { control } = this.#parts;
    if (control === null) throw privateModeIsOff();
    return control;
  }

  async #depositOf({ matter }: ResolveContext): Promise<DepositRecord> {
    const address = matterKey(matter).replace(TOKENS_AT, "");
    const [deposit] = await this.#parts.storage.deposits([address]);
    if (deposit === undefined) throw new OperatorRefused(`${matter.id}: there is no such deposit address`);
    return deposit;
  }

  async #releaseBy(
    { matter, guard }: ResolveContext,
    order: Pick<ReleaseRequest, "refundTo" | "writesFor">,
  ): Promise<void> {
    const { transactionId } = matter;
    if (transactionId === undefined) throw new OperatorRefused(`${matter.id}: it is of no transaction`);
    try {
      await this.#control().release(transactionId, { ...order, guardOf: async () => guard });
    } catch (error) {
      if (error instanceof ReleaseRefused) throw new OperatorRefused(`${matter.id}: ${error.message}`);
      throw error;
    }
  }

  async #screen(address: Address, transactionId: string): Promise<void> {
    const { screen } = this.#control();
    if (screen === null) return;
    const verdict = await screen(address, { role: "recipient", transactionId }).catch((cause: unknown) => {
      throw new OperatorRefused(`address: the host's screening cannot tell about ${address} now`, { cause });
    });
    if (verdict !== "ok") throw new OperatorRefused(`address: the host's screening refuses ${address}`);
  }
}
