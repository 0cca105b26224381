/** Resolving matters: the command is checked against what waits, a second person is asked for, and it is carried out. */
import { z } from "zod";
import type { DecisionRecord } from "../../records.ts";
import type { PaymentStorage, PaymentWrite } from "../../payment-storage.ts";
import type { Clock } from "../../../runtime.ts";
import { readActedBy, readCommand } from "../act.ts";
import type { ActedBy } from "../../acted-by.ts";
import type { WriteAct } from "../act.ts";
import type { Look, LookForMatters } from "../attention/list-matters.ts";
import type { MatterAction } from "../attention/matter.ts";
import { OperatorRefused } from "../operator-refused.ts";
import { resolveCommand } from "./command.ts";
import type { EvidenceControl, Resolution, ResolveCommand, Resolving } from "./command.ts";
import { decisionWrite } from "./decisions.ts";
import type { DepositResolving } from "./resolve-deposits.ts";
import type { TaskResolving } from "./resolve-tasks.ts";

/** Deciding about matters. */
export interface Resolver {
  /**
   * Decides about a matter. Rejects with `OperatorRefused` for an id that does not wait, an action that the matter does
   * not take, and whatever the action needs and does not have; then nothing is changed.
   */
  resolve(id: string, command: ResolveCommand, by: ActedBy): Promise<Resolution>;
  /** Confirms what another actor has asked for. Rejects with `OperatorRefused` where nothing waits, and for the same actor. */
  approve(id: string, by: ActedBy): Promise<Resolution>;
}

/** Where a matter of that id is looked for: more than there ever are. */
const MAX_MATTERS = 10_000;

/** What waits for a second person. */
const proposal = z.object({
  address: z.string(),
  actor: z.string(),
  /** What the matter was when it was asked for. */
  message: z.string(),
});

export function createResolver({
  storage,
  clock,
  lookForMatters,
  writeAct,
  tasks,
  deposits,
  evidence,
  approvals,
}: {
  readonly storage: Pick<PaymentStorage, "decision" | "commit">;
  readonly clock: Clock;
  readonly lookForMatters: LookForMatters;
  readonly writeAct: WriteAct;
  readonly tasks: TaskResolving;
  readonly deposits: DepositResolving;
  readonly evidence: EvidenceControl;
  /** How many people it takes to send money to another address. */
  readonly approvals: 1 | 2;
}): Resolver {
  const find = async (id: string): Promise<Look["matters"][number]> => {
    const { matters } = await lookForMatters(MAX_MATTERS);
    const found = matters.find((matter) => matter.id === id);
    if (found === undefined) throw new OperatorRefused(`there is no matter ${id}: see attention()`);
    return found;
  };

  const guardOf = (id: string, before: DecisionRecord | null, waiting: string | null): PaymentWrite =>
    decisionWrite(id, before, { proposal: waiting, decidedAt: clock.now() });

  const done = (
    { id, transactionId }: Look["matters"][number],
    action: MatterAction,
    state: Resolution["state"] = "done",
  ): Resolution => ({ id, action, state, ...(transactionId === undefined ? {} : { transactionId }) });

  /** Keeps what was asked for until somebody else confirms it. */
  const propose = async (matter: Look["matters"][number], by: ActedBy, address: string): Promise<void> => {
    const text = JSON.stringify({ address, actor: by.actor, message: matter.message });
    const guard = guardOf(matter.id, await storage.decision(matter.id), text);
    const what = { id: matter.id, address };
    const audit = writeAct({ by, act: "request_refund_to", what });
    const [result] = await storage.commit([{ writes: [guard, audit] }]);
    if (result?.ok !== true) {
      throw new OperatorRefused(`${matter.id}: somebody else has just decided about it`);
    }
  };

  const carryOut = async (resolving: Resolving, command: ResolveCommand): Promise<void> => {
    switch (command.action) {
      case "retry":
        return tasks.retry(resolving);
      case "drop":
        return resolving.matter.kind === "dead_letter"
          ? tasks.dropTask(resolving)
          : tasks.dropDeliveries(resolving);
      case "release":
        return deposits.release(resolving);
      case "refundTo":
        return deposits.refundTo(resolving, await deposits.checkReceiver(resolving, command.address), null);
      case "writeOff":
        return resolving.matter.kind === "unprovable"
          ? writeOffUnprovable(resolving)
          : deposits.writeOff(resolving);
      case "settle":
        return settleBy(resolving, command.signature);
    }
  };

  const settleBy = async ({ matter, by, guard }: Resolving, signature: string): Promise<void> => {
    const { id, transactionId } = matter;
    if (transactionId === undefined) throw new OperatorRefused(`${id}: it is of no transaction`);
    const audit = writeAct({ by, act: "settle", what: { id, transactionId, signature } });
    await evidence.settle({ transactionId, signature, writes: [guard, audit] });
  };

  const writeOffUnprovable = async ({ matter, by, guard }: Resolving): Promise<void> => {
    const { id, transactionId } = matter;
    if (transactionId === undefined) throw new OperatorRefused(`${id}: it is of no transaction`);
    const audit = writeAct({ by, act: "write_off", what: { id, transactionId } });
    await evidence.writeOff({ transactionId, writes: [guard, audit] });
  };

  return {
    async resolve(id, given, by) {
      const acted = readActedBy(by);
      const command = readCommand(resolveCommand, given);
      const { action } = command;
      const before = await storage.decision(id);
      const matter = await find(id);
      if (!matter.actions.includes(action)) {
        const expected = matter.actions.length === 0 ? "no action" : matter.actions.join(", ");
        throw new OperatorRefused(`${id} takes ${expected}, and not ${action}`);
      }
      const resolving: Resolving = { matter, by: acted, guard: guardOf(id, before, null) };
      if (command.action === "refundTo" && approvals === 2) {
        await propose(matter, acted, await deposits.checkReceiver(resolving, command.address));
        return done(matter, action, "awaits_approval");
      }
      await carryOut(resolving, command);
      return done(matter, action);
    },

    async approve(id, by) {
      const acted = readActedBy(by);
      const before = await storage.decision(id);
      if (before === null || before.proposal === null) {
        throw new OperatorRefused(`nothing of ${id} waits for an approval`);
      }
      const { address, actor, message } = proposal.parse(JSON.parse(before.proposal));
      if (isSamePerson(actor, acted.actor)) {
        throw new OperatorRefused(`${actor} has asked for it: another actor has to approve`);
      }
      const matter = await find(id);
      if (matter.message !== message) {
        throw new OperatorRefused(`${id} is not what it was when it was asked for: resolve it again`);
      }
      const resolving: Resolving = { matter, by: acted, guard: guardOf(id, before, null) };
      await deposits.refundTo(resolving, await deposits.checkReceiver(resolving, address), actor);
      return done(matter, "refundTo");
    },
  };
}

/** Spelled in another case or form, a name is still the same person's. */
function isSamePerson(one: string, other: string): boolean {
  const plain = (name: string): string => name.normalize("NFKC").trim().toLowerCase();
  return plain(one) === plain(other);
}
