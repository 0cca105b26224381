/** Resolves matters: checks the command, asks for a second person where one is needed, and carries it out. */
import { commitOne } from "../../../../storage/decided.ts";
import { z } from "zod";
import type { DecisionRecord } from "../../tables/operator.ts";
import type { PaymentStorage, PaymentWrite } from "../../payment-storage.ts";
import type { Clock } from "../../../runtime.ts";
import { readActContext, readCommand, type WriteAct, OperatorRefused } from "../act.ts";
import type { ActContext } from "../../intake/rules.ts";
import type { DatedMatter, MatterLookup } from "../attention/list-matters.ts";
import type { FoundMatter, MatterAction } from "../attention/matter.ts";
import type { VouchingEvidence } from "../../private/vouched-funds.ts";
import { decisionOf } from "../attention/held-addresses.ts";
import { isSamePerson } from "../../shown-words.ts";
import {
  resolveCommand,
  type Approval,
  type EvidenceControl,
  type ResolveResult,
  type ResolveCommand,
  type ResolveContext,
} from "./command.ts";
import { decidedMeanwhile, decisionWrite } from "./decisions.ts";
import type { DepositResolveHandler } from "./resolve-deposits.ts";
import type { TaskResolveHandler } from "./resolve-tasks.ts";

/** Deciding about matters. */
export interface MatterCommands {
  /**
   * Decides about a matter. Rejects with `OperatorRefused` for an id that does not wait, an action that the matter does
   * not take, and an action that lacks what it needs; then nothing is changed.
   */
  resolve(id: string, command: ResolveCommand, by: ActContext): Promise<ResolveResult>;
  /**
   * Confirms what another actor has asked for. Rejects with `OperatorRefused` where nothing waits, where something else
   * waits than is confirmed, and for the same actor.
   */
  approve(id: string, approval: Approval, by: ActContext): Promise<ResolveResult>;
}

/** The number of matters of each source that are searched for an id: more than ever exist. */
const MAX_MATTERS = 10_000;

const matterName = z.string("id: expected the id of a matter");

/** A request that waits for a second person. */
const proposal = z.object({
  address: z.string(),
  actor: z.string(),
  /** The matter's message at the time of the request. */
  message: z.string(),
  /**
   * The money at the time of the request: no more goes to the address. Proposals of an earlier version lack this field.
   */
  money: z
    .object({
      step: z.number(),
      slot: z.number().nullable().default(null),
      signatures: z.array(z.string()),
      came: z.record(z.string(), z.string()),
      there: z.record(z.string(), z.string()),
    })
    .optional(),
});

interface Proposed {
  readonly address: string;
  readonly money: VouchingEvidence;
  /** Allowed amounts in whole units, by mint. */
  readonly allowed: Readonly<Record<string, string>>;
  /** The decision that was read first: a decision committed meanwhile is not overwritten. */
  readonly before: DecisionRecord | null;
}

interface MatterCommandParts {
  readonly storage: Pick<PaymentStorage, "decision" | "commit">;
  readonly clock: Clock;
  readonly lookForMatters: MatterLookup;
  readonly writeAct: WriteAct;
  readonly tasks: TaskResolveHandler;
  readonly deposits: DepositResolveHandler;
  readonly evidence: EvidenceControl;
  /** The number of people that it takes to send money to another address. */
  readonly approvals: 1 | 2;
}

export class MatterCommandHandler implements MatterCommands {
  readonly #parts: MatterCommandParts;

  constructor(parts: MatterCommandParts) {
    this.#parts = parts;
  }

  async resolve(named: string, given: ResolveCommand, by: ActContext): Promise<ResolveResult> {
    const id = readCommand(matterName, named);
    const { storage, deposits, approvals } = this.#parts;
    const acted = readActContext(by);
    const command = readCommand(resolveCommand, given);
    const { action } = command;
    const before = await storage.decision(decisionOf(id));
    const matter = await this.#find(id);
    if (!matter.actions.includes(action)) {
      const expected = matter.actions.length === 0 ? "no action" : matter.actions.join(", ");
      throw new OperatorRefused(`${id} takes ${expected}, and not ${action}`);
    }
    const resolving: ResolveContext = { matter, by: acted, guard: this.#guard(id, before, null) };
    if (command.action === "refundTo" && approvals === 2) {
      const address = await deposits.checkReceiver(resolving, command.address);
      const { money, shown } = await deposits.moneyThere(resolving);
      await this.#propose(resolving, { address, money, allowed: shown, before });
      return { ...resolutionOf(matter, action, "awaits_approval"), address, allowed: shown };
    }
    await this.#carryOut(resolving, command);
    return resolutionOf(matter, action, "done");
  }

  async approve(named: string, approval: Approval, by: ActContext): Promise<ResolveResult> {
    const id = readCommand(matterName, named);
    const { storage, deposits } = this.#parts;
    const acted = readActContext(by);
    const before = await storage.decision(decisionOf(id));
    if (before === null || before.proposal === null) {
      throw new OperatorRefused(`nothing of ${id} waits for an approval`);
    }
    const { address, actor, message, money } = proposal.parse(JSON.parse(before.proposal));
    if (isSamePerson(actor, acted.actor)) {
      throw new OperatorRefused(`${actor} has asked for it: another actor has to approve`);
    }
    if (approval.address !== address) {
      throw new OperatorRefused(
        `${id}: ${actor} has asked for a refund to ${address}: confirm that, or nothing`,
      );
    }
    const matter = await this.#find(id);
    if (matter.message !== message || money === undefined) {
      throw new OperatorRefused(`${id} is not what it was when it was asked for: resolve it again`);
    }
    const resolving: ResolveContext = { matter, by: acted, guard: this.#guard(id, before, null) };
    const to = await deposits.checkReceiver(resolving, address);
    await deposits.refundTo(resolving, { to, requestedBy: actor, money });
    return resolutionOf(matter, "refundTo", "done");
  }

  async #find(id: string): Promise<DatedMatter> {
    const { matters } = await this.#parts.lookForMatters(MAX_MATTERS);
    const found = matters.find((matter) => matter.id === id);
    if (found === undefined) throw new OperatorRefused(`there is no matter ${id}: see attention()`);
    return found;
  }

  #guard(id: string, before: DecisionRecord | null, waiting: string | null): PaymentWrite {
    return decisionWrite(decisionOf(id), before, { proposal: waiting, decidedAt: this.#parts.clock.now() });
  }

  /** Keeps a request until a second actor confirms it. */
  async #propose(
    { matter, by }: ResolveContext,
    { address, money, allowed, before }: Proposed,
  ): Promise<void> {
    const { storage, writeAct } = this.#parts;
    const text = JSON.stringify({ address, actor: by.actor, message: matter.message, money });
    const guard = this.#guard(matter.id, before, text);
    const audit = writeAct({ by, act: "request_refund_to", what: { id: matter.id, address, allowed } });
    const result = await commitOne(storage, { writes: [guard, audit] });
    if (!result.ok) throw decidedMeanwhile(matter.id);
  }

  async #carryOut(resolving: ResolveContext, command: ResolveCommand): Promise<void> {
    const { tasks, deposits } = this.#parts;
    const { kind } = resolving.matter;
    switch (command.action) {
      case "retry":
        return tasks.retry(resolving);
      case "drop":
        if (kind === "unexplained") return deposits.dropTokens(resolving);
        return kind === "dead_letter" ? tasks.dropTask(resolving) : tasks.dropDeliveries(resolving);
      case "release":
        return deposits.release(resolving);
      case "refundTo": {
        const to = await deposits.checkReceiver(resolving, command.address);
        return deposits.refundTo(resolving, { to, requestedBy: null, money: null });
      }
      case "writeOff":
        return kind === "unprovable" ? this.#writeOffUnprovable(resolving) : deposits.writeOff(resolving);
      case "settle":
        return this.#settle(resolving, command.signature);
    }
  }

  async #settle({ matter, by, guard }: ResolveContext, signature: string): Promise<void> {
    const { id } = matter;
    const transactionId = transactionOf(matter);
    const audit = this.#parts.writeAct({ by, act: "settle", what: { id, transactionId, signature } });
    await this.#parts.evidence.settle({ transactionId, signature, writes: [guard, audit] });
  }

  async #writeOffUnprovable({ matter, by, guard }: ResolveContext): Promise<void> {
    const { id } = matter;
    const transactionId = transactionOf(matter);
    const audit = this.#parts.writeAct({ by, act: "write_off", what: { id, transactionId } });
    await this.#parts.evidence.writeOff({ transactionId, writes: [guard, audit] });
  }
}

function transactionOf({ id, transactionId }: FoundMatter): string {
  if (transactionId === undefined) throw new OperatorRefused(`${id}: it is of no transaction`);
  return transactionId;
}

function resolutionOf(
  { id, transactionId }: FoundMatter,
  action: MatterAction,
  state: ResolveResult["state"],
): ResolveResult {
  return { id, action, state, ...(transactionId === undefined ? {} : { transactionId }) };
}
