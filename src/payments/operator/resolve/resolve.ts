/** Decides about matters and orders: checks the command, finds its subject, and calls the handler. */
import { z } from "zod";
import type { DecisionRecord } from "../../frame/tables/operator.ts";
import type { FrameStorage, FrameWrite } from "../../frame/frame-storage.ts";
import type { Clock } from "../../../core/runtime.ts";
import { readActContext, readCommand, type WriteAct, OperatorRefused } from "../../frame/acts/act.ts";
import type { ActContext } from "../../frame/intake/rules.ts";
import type { DatedMatter, MatterLookup } from "../attention/list-matters.ts";
import type { FoundMatter } from "../../frame/acts/matter.ts";
import {
  approvalGiven,
  isOrderCommand,
  resolveCommand,
  type Approval,
  type OrderActs,
  type ResolveResult,
  type ResolveCommand,
} from "../../frame/acts/command.ts";
import type { EvidenceControl } from "../../frame/acts/evidence.ts";
import { decisionWrite } from "../../frame/acts/decisions.ts";
import type { ResolveContext, TaskResolveHandler } from "./resolve-tasks.ts";

/** Deciding about matters and orders. */
export interface MatterCommands {
  /**
   * Decides about a matter by its id, or about an order of private mode by the id of its transaction, matter or not. Rejects
   * with `OperatorRefused` for an id that does not wait, a command that the matter or the order does not take now; for one
   * that lacks a field; and with `LedgerUnavailable` if the chain cannot be read; then nothing is changed.
   */
  resolve(id: string, command: ResolveCommand, by: ActContext): Promise<ResolveResult>;
  /**
   * Confirms what was asked for last about this matter or order. Rejects with `OperatorRefused` if nothing waits, if another
   * address waits than is confirmed, and for the same actor if it takes two.
   */
  approve(id: string, approval: Approval, by: ActContext): Promise<ResolveResult>;
}

/** The number of matters of each source that are searched for an id: more than ever exist. */
const MAX_MATTERS = 10_000;

const matterName = z.string("id: expected the id of a matter or of a transaction");
const TRANSACTION = /^tx_[0-9a-f]{32}$/;

interface MatterCommandParts {
  readonly storage: Pick<FrameStorage, "decision" | "commit">;
  readonly clock: Clock;
  readonly lookForMatters: MatterLookup;
  readonly writeAct: WriteAct;
  readonly tasks: TaskResolveHandler;
  readonly orders: OrderActs;
  readonly evidence: EvidenceControl;
}

export class MatterCommandHandler implements MatterCommands {
  readonly #parts: MatterCommandParts;

  constructor(parts: MatterCommandParts) {
    this.#parts = parts;
  }

  async resolve(named: string, given: ResolveCommand, by: ActContext): Promise<ResolveResult> {
    const id = readCommand(matterName, named);
    const acted = readActContext(by);
    const command = readCommand(resolveCommand, given);
    const { action } = command;
    if (TRANSACTION.test(id)) {
      if (!isOrderCommand(command)) throw new OperatorRefused(`${action} takes the id of a matter`);
      return { id, ...(await this.#parts.orders.resolve({ order: id, command, by: acted })) };
    }
    const before = await this.#parts.storage.decision(id);
    const matter = await this.#find(id);
    if (!matter.actions.includes(action)) {
      const expected = matter.actions.length === 0 ? "no action" : matter.actions.join(", ");
      throw new OperatorRefused(`${id} takes ${expected}, and not ${action}`);
    }
    if (isOrderCommand(command) && !isAboutTask(matter)) {
      const order = transactionOf(matter);
      return { id, ...(await this.#parts.orders.resolve({ order, command, by: acted })) };
    }
    await this.#carryOut({ matter, by: acted, guard: this.#guard(id, before) }, command);
    const { transactionId } = matter;
    return { id, action, state: "done", ...(transactionId === undefined ? {} : { transactionId }) };
  }

  async approve(named: string, given: Approval, by: ActContext): Promise<ResolveResult> {
    const id = readCommand(matterName, named);
    const acted = readActContext(by);
    const approval = readCommand(approvalGiven, given);
    const order = TRANSACTION.test(id) ? id : transactionOf(await this.#find(id));
    return { id, ...(await this.#parts.orders.approve(order, approval, acted)) };
  }

  async #find(id: string): Promise<DatedMatter> {
    const { matters } = await this.#parts.lookForMatters(MAX_MATTERS);
    const found = matters.find((matter) => matter.id === id);
    if (found === undefined) throw new OperatorRefused(`there is no matter ${id}: see attention()`);
    return found;
  }

  #guard(id: string, before: DecisionRecord | null): FrameWrite {
    return decisionWrite(id, before, { proposal: null, decidedAt: this.#parts.clock.now() });
  }

  async #carryOut(resolving: ResolveContext, command: ResolveCommand): Promise<void> {
    const { tasks } = this.#parts;
    switch (command.action) {
      case "retry":
        return tasks.retry(resolving);
      case "drop":
        return tasks.drop(resolving);
      case "writeOff":
        return this.#writeOff(resolving);
      case "settle":
        return this.#settle(resolving, command.signature);
      default:
        throw new OperatorRefused(`${command.action} takes an order`);
    }
  }

  async #settle({ matter, by, guard }: ResolveContext, signature: string): Promise<void> {
    const { id } = matter;
    const transactionId = transactionOf(matter);
    const audit = this.#parts.writeAct({ by, act: "settle", what: { id, transactionId, signature } });
    await this.#parts.evidence.settle({ transactionId, signature, writes: [guard, audit] });
  }

  async #writeOff({ matter, by, guard }: ResolveContext): Promise<void> {
    const { id } = matter;
    const transactionId = transactionOf(matter);
    const audit = this.#parts.writeAct({ by, act: "write_off", what: { id, transactionId } });
    await this.#parts.evidence.writeOff({ transactionId, writes: [guard, audit] });
  }
}

/** A task of an order's chart is retried as a task. */
function isAboutTask({ kind }: FoundMatter): boolean {
  return kind === "dead_letter" || kind === "failing_task";
}

function transactionOf({ id, transactionId }: FoundMatter): string {
  if (transactionId === undefined) throw new OperatorRefused(`${id}: it is of no transaction`);
  return transactionId;
}
