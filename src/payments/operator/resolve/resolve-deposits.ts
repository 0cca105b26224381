/** Deciding about deposit addresses that are held: released, refunded elsewhere, or written off. */
import type { DepositRecord } from "../../records.ts";
import type { PaymentStorage, PaymentWrite } from "../../payment-storage.ts";
import { parseAddress } from "../../../address.ts";
import type { Address } from "../../../address.ts";
import { isPaymentError } from "../../../errors.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { Clock } from "../../../runtime.ts";
import { ReleaseRefused } from "../../private/release-deposit.ts";
import type { ReleaseOrder } from "../../private/release-deposit.ts";
import type { Screen } from "../../recipients/screening.ts";
import { releaseShareOfDay } from "../../purses/sponsor-limit.ts";
import { releaseShare } from "../../purses/sponsor-share.ts";
import { checkRecipientsOnChain } from "../../recipients/recipients.ts";
import type { WriteAct } from "../act.ts";
import { WRITTEN_OFF } from "../attention/held-addresses.ts";
import { OperatorRefused } from "../operator-refused.ts";
import type { Resolving } from "./command.ts";

/** What private mode gives the operator's room; null while it is off. */
export interface DepositControl {
  readonly screen: Screen | null;
  /** Addresses of the service itself besides its deposit addresses: nothing is refunded there. */
  readonly ownAddresses: readonly string[];
  /** Whether the instance of an address is one whose money can be redirected now. */
  readonly canRedirect: (deposit: DepositRecord) => Promise<boolean>;
  readonly release: (transactionId: string, order: ReleaseOrder) => Promise<unknown>;
}

export interface DepositResolving {
  release(resolving: Resolving): Promise<void>;
  /** Throws `OperatorRefused` unless money may go there, and from where it lies. Returns the address. */
  checkReceiver(resolving: Resolving, address: string): Promise<Address>;
  /** `requestedBy` is who asked for it where somebody else confirms. */
  refundTo(resolving: Resolving, to: Address, requestedBy: string | null): Promise<void>;
  writeOff(resolving: Resolving): Promise<void>;
}

export function createDepositResolving({
  storage,
  ledger,
  clock,
  writeAct,
  control,
}: {
  readonly storage: Pick<PaymentStorage, "deposits" | "commit">;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly writeAct: WriteAct;
  readonly control: DepositControl | null;
}): DepositResolving {
  const controlOf = (): DepositControl => {
    if (control === null) {
      throw new OperatorRefused("private mode is off: start a service with privateRouting");
    }
    return control;
  };

  const depositOf = async ({ matter: { id, kind } }: Resolving): Promise<DepositRecord> => {
    const [deposit] = await storage.deposits([id.slice(kind.length + 1)]);
    if (deposit === undefined) throw new OperatorRefused(`${id}: there is no such deposit address`);
    return deposit;
  };

  /** Releases in one commit with the guard and the audit row. */
  const releaseBy = async (
    { matter, guard }: Resolving,
    transactionId: string,
    order: ReleaseOrder,
  ): Promise<void> => {
    try {
      await controlOf().release(transactionId, { ...order, writes: [guard, ...order.writes] });
    } catch (error) {
      if (error instanceof ReleaseRefused) throw new OperatorRefused(`${matter.id}: ${error.message}`);
      throw error;
    }
  };

  const screenReceiver = async (address: Address, transactionId: string): Promise<void> => {
    const { screen } = controlOf();
    if (screen === null) return;
    const verdict = await screen(address, { role: "recipient", transactionId }).catch((cause: unknown) => {
      throw new OperatorRefused(`address: the host's screening cannot tell about ${address} now`, { cause });
    });
    if (verdict !== "ok") throw new OperatorRefused(`address: the host's screening refuses ${address}`);
  };

  return {
    async release(resolving) {
      const { matter, by } = resolving;
      const { transactionId } = await depositOf(resolving);
      const audit = writeAct({ by, act: "release", what: { id: matter.id, transactionId } });
      await releaseBy(resolving, transactionId, { event: { type: "RELEASE" }, writes: [audit] });
    },

    async checkReceiver(resolving, text) {
      const deposit = await depositOf(resolving);
      const parsed = parseAddress(text);
      if ("fault" in parsed) throw new OperatorRefused(`address: ${text} is no address (${parsed.fault})`);
      const { address } = parsed;
      const isOurs =
        controlOf().ownAddresses.includes(address) || (await storage.deposits([address])).length > 0;
      if (isOurs) throw new OperatorRefused(`address: ${address} is one of the service's own`);
      await checkRecipientsOnChain(ledger, [address]).catch((error: unknown) => {
        if (!isPaymentError(error, "INVALID_RECIPIENT")) throw error;
        throw new OperatorRefused(
          `address: ${address} cannot be paid (${error.details.reason}): name a wallet`,
        );
      });
      await screenReceiver(address, deposit.transactionId);
      if (!(await controlOf().canRedirect(deposit))) {
        throw new OperatorRefused(
          `${resolving.matter.id}: a payment of its order is open, so its money cannot be sent elsewhere yet: ` +
            "release it, or try again once the order is over",
        );
      }
      return address;
    },

    async refundTo(resolving, to, requestedBy) {
      const { matter, by } = resolving;
      const { transactionId } = await depositOf(resolving);
      const what = {
        id: matter.id,
        transactionId,
        address: to,
        ...(requestedBy === null ? {} : { requestedBy }),
      };
      const audit = writeAct({ by, act: "refund_to", what });
      await releaseBy(resolving, transactionId, { event: { type: "REDIRECT", to }, writes: [audit] });
    },

    async writeOff(resolving) {
      const { matter, by, guard } = resolving;
      const { id, transactionId, heldReason, waitEndedAt } = await depositOf(resolving);
      if (heldReason === null) throw new OperatorRefused(`${matter.id}: deposit address ${id} is not held`);
      const now = clock.now();
      const reserved: PaymentWrite[] = [
        { table: "reservations", id: transactionId, set: { releasedAt: now } },
        releaseShareOfDay(transactionId, now),
        // Its account's share ended when it stopped waiting.
        ...(waitEndedAt === null ? [releaseShare(transactionId, now)] : []),
      ];
      const what = { id: matter.id, transactionId, heldReason };
      const [result] = await storage.commit([
        {
          writes: [
            guard,
            { table: "deposits", id, set: { heldReason: WRITTEN_OFF } },
            ...reserved,
            writeAct({ by, act: "write_off", what }),
          ],
        },
      ]);
      if (result?.ok !== true) {
        throw new OperatorRefused(`${matter.id}: somebody else has just decided about it`);
      }
    },
  };
}
