/** Acts on orders, as rows of the operator's table: each begins with a look at the chain, and is one commit. */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { CommitResult } from "../../../../storage/storage.ts";
import { OperatorRefused, type ActName, type WriteAct } from "../../frame/acts/act.ts";
import type { ActCommit, ActRow, Deciding, Decision, SecondWord } from "../../frame/acts/act-row.ts";
import {
  isOrderCommand,
  orderCommand,
  resolveCommand,
  type OrderActs,
  type OrderCommand,
  type OrderDecision,
  type ResolveResult,
} from "../../frame/acts/command.ts";
import { decidedMeanwhile } from "../../frame/acts/decisions.ts";
import type { ActContext } from "../../frame/intake/rules.ts";
import type { OrderLook } from "../look.ts";
import { privateModeIsOff } from "../private-routing.ts";
import type { PrivateWrite } from "../private-storage.ts";
import {
  actingOn,
  type Acting,
  type CommandOf,
  type Confirmation,
  type OrderAct,
  type OrderActParts,
  type OrderControl,
} from "./acting.ts";
import { collect, foreign, refundTo } from "./decide-money.ts";
import { conclude, decline, foreclose } from "./decide-payees.ts";
import { hold, release, retry } from "./decide-signing.ts";

type Commands = { readonly [Action in OrderCommand["action"]]: CommandOf<Action> };

/** The table of acts on orders: what each asks and writes. */
const ORDER_ACTS: {
  readonly [Action in keyof Commands]: (acting: Acting<Commands[Action]>) => OrderAct | Promise<OrderAct>;
} = { hold, release, retry, decline, foreclose, conclude, refundTo, collect, foreign };

interface OrderActDeps extends Omit<OrderActParts, "control"> {
  /** Null while private mode is off. */
  readonly control: OrderControl | null;
  readonly writeAct: WriteAct;
}

/** An order as the chain and the rows show it. */
interface LookedAt {
  readonly control: OrderControl;
  readonly look: OrderLook;
}

type OrderDeciding = Deciding<OrderDecision, LookedAt>;

/** A request that waits for its confirmation. */
const proposal = z.object({ command: resolveCommand, actor: z.string(), sum: z.string().nullable() });

const decisionId = (order: string): string => `order:${order}`;

export function orderActs(deps: OrderActDeps): OrderActs {
  const row: ActRow<OrderDecision, LookedAt, ResolveResult, PrivateWrite> = {
    given: z.strictObject({ order: z.string(), command: orderCommand }),
    decision: ({ order }) => decisionId(order),
    async subject({ order }) {
      const { control, storage } = deps;
      if (control === null) throw privateModeIsOff();
      if ((await storage.order(order)) === null) {
        throw new OperatorRefused(`there is no private order ${order}`);
      }
      return { control, look: await control.look(order) };
    },
    decide: (deciding) => decide(deps, deciding),
  };
  return {
    row,
    waits: (order) => ({
      id: decisionId(order),
      subject: `order ${order}`,
      read({ text }) {
        const { command } = proposal.parse(JSON.parse(text));
        if (!isOrderCommand(command)) throw new Error(`order ${order} waits for ${command.action}`);
        return { given: { order, command }, action: command.action };
      },
    }),
  };
}

async function decide(
  deps: OrderActDeps,
  deciding: OrderDeciding,
): Promise<Decision<ResolveResult, PrivateWrite>> {
  const { given, by, subject, confirms } = deciding;
  const { order, command } = given;
  const { control, look } = subject;
  const act = await actOf(
    command,
    { ...deps, control },
    {
      look,
      actors: confirms === null ? [by.actor] : [confirms.actor, by.actor],
      confirmed: confirms === null ? null : sumIn(confirms.text),
    },
  );
  return {
    act: act.act,
    what: { transactionId: order, ...act.what },
    subject: order,
    writes: act.writes,
    second: act.confirmation && secondWord(deciding, act, act.confirmation),
    send: (commit) => send({ ...deps, control }, { order, by, act, look }, commit),
    async after() {
      for (const transfer of act.wakes ?? []) await control.wake(transfer);
    },
    told: () => ({ id: order, action: command.action, state: "done", transactionId: order }),
  };
}

function actOf<Action extends keyof Commands>(
  command: Commands[Action] & { readonly action: Action },
  parts: OrderActParts,
  about: Parameters<typeof actingOn>[2],
): OrderAct | Promise<OrderAct> {
  return ORDER_ACTS[command.action](actingOn<Commands[Action]>(parts, command, about));
}

function sumIn(text: string): bigint | null {
  const { sum } = proposal.parse(JSON.parse(text));
  return sum === null ? null : BigInt(sum);
}

function secondWord(
  { given: { order, command }, by: { actor } }: OrderDeciding,
  { act }: OrderAct,
  { by, address, sum, allowed }: Confirmation,
): SecondWord<ResolveResult> {
  const text = JSON.stringify({ command, actor, sum: sum === undefined ? null : String(sum) });
  const shown = {
    ...(address === undefined ? {} : { address }),
    ...(allowed === undefined ? {} : { allowed }),
  };
  return {
    by,
    act: `request_${act}` as ActName,
    request: { actor, text },
    how: "approve",
    ...(address === undefined ? {} : { address }),
    told: { id: order, action: command.action, state: "awaits_approval", transactionId: order, ...shown },
  };
}

/** A decided act, with the look that it was decided by. */
interface DecidedAct {
  readonly order: string;
  readonly by: ActContext;
  readonly act: OrderAct;
  readonly look: OrderLook;
}

type SendParts = OrderActDeps & { readonly control: OrderControl };

/** Hands the act's event to the order in the act's commit. */
async function send(
  parts: SendParts,
  decided: DecidedAct,
  { writes }: ActCommit<PrivateWrite>,
): Promise<CommitResult> {
  const { order, act } = decided;
  const { control } = parts;
  const expectedVersion = await versionAfterFirst(parts, decided);
  // First: what was concluded from an older version of the order is not committed.
  const unchanged: PrivateWrite = { table: "orders", id: order, set: {}, expectedVersion };
  const commit = { writes: [unchanged, ...writes], starts: act.starts ?? [] };
  const sent = await control.send(order, act.event ?? { type: "CHANGED" }, commit);
  if (sent.kind === "refused") return sent.result;
  if (sent.kind === "stepped") return { ok: true };
  if (act.event !== null) {
    throw new OperatorRefused(`order ${order} does not take ${act.event.type} in the state that it is in`);
  }
  // An order at rest has nothing to look at again: the act counts all the same.
  return control.commit(commit);
}

/** The order's version once it has taken the first events; its sums must be as they were looked at. */
async function versionAfterFirst(
  { storage, writeAct, control }: SendParts,
  { order, by, act, look }: DecidedAct,
): Promise<number> {
  const { first = [] } = act;
  if (first.length === 0) return look.view.order.version;
  for (const event of first) {
    const what = { transactionId: order, ...event };
    const writes = [writeAct({ by, act: "foreclose", what })];
    await control.send(order, event, { writes, starts: [] });
  }
  const [now] = await storage.orderViews([order]);
  if (now === undefined || !isDeepStrictEqual(now.levels, look.view.levels)) throw decidedMeanwhile(order);
  return now.order.version;
}
