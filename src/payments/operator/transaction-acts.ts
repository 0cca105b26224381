/**
 * Acts of an operator on a transaction by its id, whether or not the transaction is a matter that waits for a person.
 */
import { z } from "zod";
import { commitOne } from "../../../storage/decided.ts";
import { isPaymentError } from "../../errors.ts";
import type { Clock } from "../../runtime.ts";
import type { ActContext } from "../intake/rules.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { OrderedReturn, ProposedReturn, ReturnRequest } from "../private/order-return.ts";
import { ReleaseRefused, type ReleasedDeposit } from "../private/release-deposit.ts";
import { SettlePaymentRefused, type SettledPayment } from "../private/settle-payment.ts";
import type { NamedLanding, SettledTransaction } from "../wallet/settle-transaction.ts";
import { readActContext, readCommand, type WriteAct, OperatorRefused, privateModeIsOff } from "./act.ts";
import { decisionOfAddress } from "./attention/held-addresses.ts";
import { matterId } from "./attention/matter.ts";
import type { Approval, EvidenceControl, ResolveResult } from "./resolve/command.ts";
import {
  decidedMeanwhile,
  decisionWrite,
  proposedReturn,
  returnId,
  waitingReturn,
} from "./resolve/decisions.ts";
import type { DepositControl } from "./resolve/resolve-deposits.ts";

/** Acts on any transaction. Matters that wait for a person are decided by `resolve`. */
export interface TransactionCommands {
  /**
   * Releases the deposit address of an order: an address held for any reason, at rest, closed or written off. A service
   * at work settles it again. The operator vouches for every transaction that the address has signed and for the money
   * that has come in so far; what comes later is screened as before. Each release grants the sponsor's allowance once
   * more. Rejects with `OperatorRefused` when another decision about the address is committed first, while a payment
   * out of it is being written down, and for an open order whose address has paid what this database does not know;
   * with `LedgerUnavailable` when the chain cannot be read.
   */
  releaseDeposit(transactionId: string, by: ActContext): Promise<ReleasedDeposit>;
  /**
   * Settles a wallet transaction by the signature under which it landed. The evidence is read from the chain: at least
   * one endpoint must show exactly this message as finalized, and no endpoint may contradict. A transaction that was
   * failed as expired, or cancelled, keeps its status and is shown as `landedAfterCancel`. Rejects with
   * `OperatorRefused` where the evidence is not enough, and where nothing is left to settle; with `LedgerUnavailable`
   * when no endpoint answers.
   *
   * Of a private order it settles a refund or a swap that another copy of the database made and no endpoint lists: as many
   * endpoints as must agree tell what the transaction paid, and the payment is booked as that. The address stays held until
   * it is released.
   */
  settleTransaction(landing: NamedLanding, by: ActContext): Promise<SettledTransaction | SettledPayment>;
  /**
   * Has tokens of a mint that is none of the service's assets, Token-2022 included, sent out of the deposit address of
   * an order that is over: to its sender, or to a new owner, whom `screen` must accept, and who gets at most the amount
   * present at the request. With `approvals: 2` a second person confirms a new owner by `approve`. The sponsor may
   * spend as much again for it. Ordered twice it is done once. A service at work does it. Rejects with
   * `OperatorRefused` for what is not there, cannot move, or has to wait; with `LedgerUnavailable` when the chain
   * cannot be read.
   */
  returnTokens(transactionId: string, order: ReturnRequest, by: ActContext): Promise<GivenReturn>;
}

/** A return that was ordered, or that waits for a second person. */
export interface GivenReturn extends OrderedReturn {
  readonly state: "done" | "awaits_approval";
  /** The id with which a second person confirms the return; only for `awaits_approval`. */
  readonly approve?: string;
}

const MAX_ADDRESS = 64;
const MAX_SIGNATURE = 128;

const named = z.string().min(1).max(MAX_ADDRESS);
const released = z.strictObject({ transactionId: named });
const landed = z.strictObject({ transactionId: named, signature: z.string().min(1).max(MAX_SIGNATURE) });
const returned = z.strictObject({ transactionId: named, mint: named, to: named.optional() });

interface TransactionCommandParts {
  readonly storage: Pick<PaymentStorage, "decision" | "commit">;
  readonly clock: Clock;
  readonly writeAct: WriteAct;
  /** Null while private mode is off. */
  readonly control: DepositControl | null;
  readonly evidence: EvidenceControl;
}

/** Carries out acts on transactions, each in one commit with its audit row. */
export class TransactionCommandHandler implements TransactionCommands {
  readonly #parts: TransactionCommandParts;

  constructor(parts: TransactionCommandParts) {
    this.#parts = parts;
  }

  async releaseDeposit(given: string, by: ActContext): Promise<ReleasedDeposit> {
    const acted = readActContext(by);
    const { transactionId } = readCommand(released, { transactionId: given });
    const control = this.#control();
    const guardOf = (address: string): Promise<PaymentWrite> => this.#guardOfAddress(address);
    const writesFor = (what: ReleasedDeposit): readonly PaymentWrite[] => [
      this.#parts.writeAct({ by: acted, act: "release", what: { ...what } }),
    ];
    return control.release(transactionId, { refundTo: null, guardOf, writesFor }).catch(asRefusal);
  }

  async settleTransaction(given: NamedLanding, by: ActContext): Promise<SettledTransaction | SettledPayment> {
    const { writeAct, evidence } = this.#parts;
    const acted = readActContext(by);
    const { transactionId, signature } = readCommand(landed, given);
    const guard = await this.#guard(matterId("unprovable", transactionId));
    const audit = writeAct({ by: acted, act: "settle", what: { transactionId, signature } });
    return evidence.settle({ transactionId, signature, writes: [guard, audit] }).catch((error: unknown) => {
      if (!isPaymentError(error, "TRANSACTION_NOT_FOUND")) throw error;
      return this.#settlePayment({ transactionId, signature }, acted);
    });
  }

  #settlePayment(landing: NamedLanding, by: ActContext): Promise<SettledPayment> {
    const { control, writeAct } = this.#parts;
    const refused = (cause: unknown): never => {
      if (cause instanceof SettlePaymentRefused) throw new OperatorRefused(cause.message, { cause });
      if (!isPaymentError(cause, "TRANSACTION_NOT_FOUND")) throw cause;
      throw new OperatorRefused(`there is no transaction ${landing.transactionId}`, { cause });
    };
    if (control === null) {
      throw new OperatorRefused(`there is no wallet transaction ${landing.transactionId}`);
    }
    return control
      .settle({
        ...landing,
        guardOf: (address) => this.#guardOfAddress(address),
        writesFor: (settled) => [writeAct({ by, act: "settle", what: { ...settled } })],
      })
      .catch(refused);
  }

  async returnTokens(given: string, order: ReturnRequest, by: ActContext): Promise<GivenReturn> {
    const acted = readActContext(by);
    const { transactionId, ...checked } = readCommand(returned, { ...order, transactionId: given });
    const control = this.#control();
    let approve: string | null = null;
    // The chart takes one order at a time: of two concurrent orders one is refused.
    const ordered = await control
      .returnTokens({
        transactionId,
        order: checked,
        confirmed: null,
        writesFor: (what) => [this.#parts.writeAct({ by: acted, act: "return_tokens", what: { ...what } })],
        propose: async (proposed) => {
          approve = await this.#proposeReturn(proposed, acted);
        },
      })
      .catch(asRefusal);
    return approve === null
      ? { ...ordered, state: "done" }
      : { ...ordered, state: "awaits_approval", approve };
  }

  /**
   * Confirms a return that another person requested by `returnTokens`: at most the amount at the time of the request is
   * sent.
   */
  async approveReturn(id: string, { address }: Approval, by: ActContext): Promise<ResolveResult> {
    const { storage, clock, writeAct } = this.#parts;
    const acted = readActContext(by);
    const before = await storage.decision(id);
    const waiting = waitingReturn(id, before, { address, actor: acted.actor });
    const { transactionId, mint, to, units, actor: requestedBy } = waiting;
    const control = this.#control();
    const guard = decisionWrite(id, before, { proposal: null, decidedAt: clock.now() });
    await control
      .returnTokens({
        transactionId,
        order: { mint, to },
        confirmed: BigInt(units),
        writesFor: (what) => [
          guard,
          writeAct({ by: acted, act: "return_tokens", what: { ...what, requestedBy } }),
        ],
        propose: async () => {
          throw new Error(`${id} is confirmed, and not proposed once more`);
        },
      })
      .catch(asRefusal);
    return { id, action: "returnTokens", state: "done", transactionId };
  }

  async #proposeReturn(proposed: ProposedReturn, by: ActContext): Promise<string> {
    const { storage, clock, writeAct } = this.#parts;
    const what = { ...proposed, units: String(proposed.units) };
    const id = returnId(proposed);
    const proposal = proposedReturn(proposed, by);
    const guard = decisionWrite(id, await storage.decision(id), { proposal, decidedAt: clock.now() });
    const audit = writeAct({ by, act: "request_return_tokens", what });
    const stored = await commitOne(storage, { writes: [guard, audit] });
    if (!stored.ok) throw decidedMeanwhile(id);
    return id;
  }

  #control(): DepositControl {
    const { control } = this.#parts;
    if (control === null) throw privateModeIsOff();
    return control;
  }

  #guardOfAddress(address: string): Promise<PaymentWrite> {
    return this.#guard(decisionOfAddress(address));
  }

  /**
   * The guard of concurrent decisions, of which only one succeeds, also against `resolve`; a request that waits for a
   * second person ends.
   */
  async #guard(matter: string): Promise<PaymentWrite> {
    const { storage, clock } = this.#parts;
    return decisionWrite(matter, await storage.decision(matter), { proposal: null, decidedAt: clock.now() });
  }
}

function noPrivateTransaction(transactionId: string, options?: ErrorOptions): OperatorRefused {
  return new OperatorRefused(`there is no private transaction ${transactionId}`, options);
}

function asRefusal(error: unknown): never {
  const options = { cause: error };
  if (error instanceof ReleaseRefused) throw new OperatorRefused(error.message, options);
  if (isPaymentError(error, "TRANSACTION_NOT_FOUND")) {
    throw noPrivateTransaction(error.details.transactionId, options);
  }
  if (isPaymentError(error, "INVALID_ASSET")) {
    throw new OperatorRefused(`mint: ${error.details.asset} is no address of a mint`, options);
  }
  if (isPaymentError(error, "INVALID_ADDRESS")) {
    throw new OperatorRefused(`to: ${error.details.address} is no address`, options);
  }
  if (isPaymentError(error, "INVALID_RECIPIENT")) {
    const { address, reason } = error.details;
    throw new OperatorRefused(`to: ${address} cannot be paid (${reason}): name a wallet`, options);
  }
  throw error;
}
