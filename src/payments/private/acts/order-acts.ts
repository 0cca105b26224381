/** Carries out acts on orders: each begins with a look at the chain, and is one commit with its audit row. */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { commitOne } from "../../../../storage/decided.ts";
import type { ActContext } from "../../frame/intake/rules.ts";
import type { PrivateWrite } from "../private-storage.ts";
import type { OrderLook } from "../look.ts";
import { isSamePerson } from "../../frame/shown-words.ts";
import type { DecisionRecord } from "../../frame/tables/operator.ts";
import { privateModeIsOff } from "../private-routing.ts";
import { OperatorRefused, type ActName, type WriteAct } from "../../frame/acts/act.ts";
import {
  isOrderCommand,
  resolveCommand,
  type Approval,
  type OrderActs,
  type OrderCommand,
  type OrderDecision,
  type ResolveResult,
} from "../../frame/acts/command.ts";
import { decidedMeanwhile, decisionWrite } from "../../frame/acts/decisions.ts";
import {
  actingOn,
  type Confirmation,
  type OrderAct,
  type OrderActParts,
  type OrderControl,
} from "./acting.ts";
import { collect, foreign, refundTo } from "./decide-money.ts";
import { conclude, decline, foreclose } from "./decide-payees.ts";
import { hold, release, retry } from "./decide-signing.ts";

interface OrderActHandlerParts extends Omit<OrderActParts, "control"> {
  /** Null while private mode is off. */
  readonly control: OrderControl | null;
  readonly writeAct: WriteAct;
  /** The number of people that it takes to decide what asks for a second confirmation. */
  readonly approvals: 1 | 2;
}

/** A request that waits for its confirmation. */
const proposal = z.object({ command: resolveCommand, actor: z.string(), sum: z.string().nullable() });

/** A decision that is about to be committed. */
interface DecidedAct extends OrderDecision {
  readonly act: OrderAct;
  readonly look: OrderLook;
  readonly before: DecisionRecord | null;
}

const decisionId = (order: string): string => `order:${order}`;

export class OrderActHandler implements OrderActs {
  readonly #parts: OrderActHandlerParts;

  constructor(parts: OrderActHandlerParts) {
    this.#parts = parts;
  }

  async resolve(decision: OrderDecision): Promise<Omit<ResolveResult, "id">> {
    const { order, command, by } = decision;
    const decided = await this.#decide(decision, { actors: [by.actor], confirmed: null });
    const { action } = command;
    const { confirmation } = decided.act;
    if (confirmation === null) {
      await this.#carryOut(decided);
      return { action, state: "done", transactionId: order };
    }
    await this.#propose(decided, confirmation);
    const { address, allowed } = confirmation;
    return {
      action,
      state: "awaits_approval",
      transactionId: order,
      ...(address === undefined ? {} : { address }),
      ...(allowed === undefined ? {} : { allowed }),
    };
  }

  async approve(order: string, approval: Approval, by: ActContext): Promise<Omit<ResolveResult, "id">> {
    const row = await this.#parts.storage.decision(decisionId(order));
    if (row === null || row.proposal === null) {
      throw new OperatorRefused(`nothing of order ${order} waits for an approval`);
    }
    const { command, actor, sum } = proposal.parse(JSON.parse(row.proposal));
    if (!isOrderCommand(command)) throw new Error(`order ${order} waits for ${command.action}`);
    const about = { actors: [actor, by.actor], confirmed: sum === null ? null : BigInt(sum) };
    const decided = await this.#decide({ order, command, by }, about);
    const { confirmation } = decided.act;
    const takesAnother = confirmation?.by === "another" || this.#parts.approvals === 2;
    if (takesAnother && isSamePerson(actor, by.actor)) {
      throw new OperatorRefused(`${actor} has asked for it: another actor has to approve`);
    }
    if (approval.address !== confirmation?.address) {
      const asked =
        confirmation?.address === undefined ? "no address" : `the address ${confirmation.address}`;
      throw new OperatorRefused(
        `order ${order}: ${actor} has asked for ${command.action} with ${asked}: confirm that`,
      );
    }
    await this.#carryOut({
      ...decided,
      act: { ...decided.act, what: { ...decided.act.what, requestedBy: actor } },
    });
    return { action: command.action, state: "done", transactionId: order };
  }

  async #decide(
    decision: OrderDecision,
    about: { readonly actors: readonly string[]; readonly confirmed: bigint | null },
  ): Promise<DecidedAct> {
    const { order, command } = decision;
    const { storage } = this.#parts;
    const control = this.#control();
    const before = await storage.decision(decisionId(order));
    if ((await storage.order(order)) === null) {
      throw new OperatorRefused(`there is no private order ${order}`);
    }
    const look = await control.look(order);
    const act = await actOf({ ...this.#parts, control }, command, { look, ...about });
    return { ...decision, act, look, before };
  }

  /** Keeps a request until it is confirmed; the newest of an order counts. */
  async #propose(decided: DecidedAct, { sum }: Confirmation): Promise<void> {
    const { order, command, by, act, before } = decided;
    const { storage, writeAct } = this.#parts;
    const text = JSON.stringify({ command, actor: by.actor, sum: sum === undefined ? null : String(sum) });
    const what = { transactionId: order, ...act.what };
    const writes = [
      this.#guard(order, before, text),
      writeAct({ by, act: `request_${act.act}` as ActName, what }),
    ];
    if (!(await commitOne(storage, { writes })).ok) throw decidedMeanwhile(order);
  }

  async #carryOut(decided: DecidedAct): Promise<void> {
    await this.#commit(decided);
    for (const transfer of decided.act.wakes ?? []) await this.#control().wake(transfer);
  }

  async #commit(decided: DecidedAct): Promise<void> {
    const { order, act } = decided;
    const commit = { writes: await this.#writesOf(decided), starts: act.starts ?? [] };
    const control = this.#control();
    const sent = await control.send(order, act.event ?? { type: "CHANGED" }, commit);
    if (sent.kind === "refused") throw decidedMeanwhile(order);
    if (sent.kind === "stepped") return;
    if (act.event !== null) {
      throw new OperatorRefused(`order ${order} does not take ${act.event.type} in the state that it is in`);
    }
    // An order at rest has nothing to look at again: the act counts all the same.
    if (!(await control.commit(commit)).ok) throw decidedMeanwhile(order);
  }

  async #writesOf(decided: DecidedAct): Promise<readonly PrivateWrite[]> {
    const { order, by, act, before } = decided;
    return [
      // First: what was concluded from an older version of the order is not committed.
      { table: "orders", id: order, set: {}, expectedVersion: await this.#versionAfterFirst(decided) },
      this.#guard(order, before, null),
      ...act.writes,
      this.#parts.writeAct({ by, act: act.act, what: { transactionId: order, ...act.what } }),
    ];
  }

  /** The order's version once it has taken the first events; its sums must be as they were looked at. */
  async #versionAfterFirst({ order, by, act, look }: DecidedAct): Promise<number> {
    const { storage, writeAct } = this.#parts;
    const { first = [] } = act;
    if (first.length === 0) return look.view.order.version;
    for (const event of first) {
      const what = { transactionId: order, ...event };
      const writes = [writeAct({ by, act: "foreclose", what })];
      await this.#control().send(order, event, { writes, starts: [] });
    }
    const [now] = await storage.orderViews([order]);
    if (now === undefined || !isDeepStrictEqual(now.levels, look.view.levels)) throw decidedMeanwhile(order);
    return now.order.version;
  }

  #control(): OrderControl {
    const { control } = this.#parts;
    if (control === null) throw privateModeIsOff();
    return control;
  }

  #guard(order: string, before: DecisionRecord | null, waiting: string | null): PrivateWrite {
    return decisionWrite(decisionId(order), before, {
      proposal: waiting,
      decidedAt: this.#parts.clock.now(),
    });
  }
}

async function actOf(
  parts: OrderActParts,
  command: OrderCommand,
  about: Parameters<typeof actingOn>[2],
): Promise<OrderAct> {
  switch (command.action) {
    case "hold":
      return hold(actingOn(parts, command, about));
    case "release":
      return release(actingOn(parts, command, about));
    case "retry":
      return retry(actingOn(parts, command, about));
    case "decline":
      return decline(actingOn(parts, command, about));
    case "foreclose":
      return foreclose(actingOn(parts, command, about));
    case "conclude":
      return conclude(actingOn(parts, command, about));
    case "refundTo":
      return refundTo(actingOn(parts, command, about));
    case "collect":
      return collect(actingOn(parts, command, about));
    case "foreign":
      return foreign(actingOn(parts, command, about));
  }
}
