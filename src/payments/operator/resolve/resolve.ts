/** Decides about matters and orders: checks the command, finds its subject, and calls the handler. */
import { z } from "zod";
import { readActContext, readCommand, OperatorRefused } from "../../frame/acts/act.ts";
import type { ActRow } from "../../frame/acts/act-row.ts";
import type { ActRunner } from "../../frame/acts/act-runner.ts";
import {
  approvalGiven,
  isOrderCommand,
  resolveCommand,
  type Approval,
  type OrderActs,
  type OrderDecision,
  type ResolveResult,
  type ResolveCommand,
} from "../../frame/acts/command.ts";
import { matterId, type MatterKind } from "../../frame/acts/matter.ts";
import type { ActContext } from "../../frame/intake/rules.ts";
import type { DatedMatter, MatterLookup } from "../attention/list-matters.ts";
import { decideMatter, transactionOf, type MatterActDeps } from "./resolve-tasks.ts";

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

interface MatterCommandParts extends MatterActDeps {
  readonly runner: ActRunner;
  readonly lookForMatters: MatterLookup;
  /** Null where no way to pay has orders. */
  readonly orders: OrderActs | null;
}

/** A command about a matter that is about no order. */
interface MatterDecision {
  readonly id: string;
  readonly command: ResolveCommand;
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
    if (TRANSACTION.test(id)) {
      if (!isOrderCommand(command)) throw new OperatorRefused(`${command.action} takes the id of a matter`);
      return this.#actOnOrder({ id, order: id, command, by: acted });
    }
    if (isOrderCommand(command) && !isAboutTask(id)) {
      const order = transactionOf(await this.#taking(id, command));
      return this.#actOnOrder({ id, order, command, by: acted });
    }
    return this.#parts.runner.carryOut(this.#row, { id, command }, acted);
  }

  async approve(named: string, given: Approval, by: ActContext): Promise<ResolveResult> {
    const id = readCommand(matterName, named);
    const acted = readActContext(by);
    const { address } = readCommand(approvalGiven, given);
    const order = TRANSACTION.test(id) ? id : transactionOf(await this.#find(id));
    const { row, waits } = this.#ordersFor(order);
    const confirming = { by: acted, ...(address !== undefined && { address }) };
    return { ...(await this.#parts.runner.confirm(row, waits(order), confirming)), id };
  }

  /** The act as a row; an act on an order is a row of the module that has orders. */
  readonly #row: ActRow<MatterDecision, DatedMatter, ResolveResult> = {
    given: z.strictObject({ id: matterName, command: resolveCommand }),
    decision: ({ id }) => id,
    subject: ({ id, command }) => this.#taking(id, command),
    decide: async ({ given: { id, command }, subject: matter }) => {
      const { what, ...decided } = await decideMatter(this.#parts, matter, command);
      const { transactionId } = matter;
      return {
        ...decided,
        what: { id, ...what },
        subject: id,
        told: () => ({
          id,
          action: command.action,
          state: "done",
          ...(transactionId === undefined ? {} : { transactionId }),
        }),
      };
    },
  };

  async #actOnOrder({
    id,
    by,
    ...decision
  }: OrderDecision & { readonly id: string; readonly by: ActContext }): Promise<ResolveResult> {
    const { row } = this.#ordersFor(decision.order);
    return { ...(await this.#parts.runner.carryOut(row, decision, by)), id };
  }

  #ordersFor(order: string): OrderActs {
    const { orders } = this.#parts;
    if (orders === null) throw new OperatorRefused(`${order}: this service takes no orders`);
    return orders;
  }

  /** The matter. Throws `OperatorRefused` for one that does not take the command. */
  async #taking(id: string, { action }: ResolveCommand): Promise<DatedMatter> {
    const matter = await this.#find(id);
    if (matter.actions.includes(action)) return matter;
    const expected = matter.actions.length === 0 ? "no action" : matter.actions.join(", ");
    throw new OperatorRefused(`${id} takes ${expected}, and not ${action}`);
  }

  async #find(id: string): Promise<DatedMatter> {
    const { matters } = await this.#parts.lookForMatters(MAX_MATTERS);
    const found = matters.find((matter) => matter.id === id);
    if (found === undefined) throw new OperatorRefused(`there is no matter ${id}: see attention()`);
    return found;
  }
}

const TASK_KINDS: readonly MatterKind[] = ["dead_letter", "failing_task"];

/** A task of an order's chart is retried as a task. */
function isAboutTask(id: string): boolean {
  return TASK_KINDS.some((kind) => id.startsWith(matterId(kind, "")));
}
