/** Carries out every act of an operator: reads, loads, decides, takes the second word, and commits all of it at once. */
import { z } from "zod";
import { commitOne } from "../../../../storage/decided.ts";
import type { AnyCommit, AnyWrite, CommitAnswer, CommitResult } from "../../../../storage/storage.ts";
import type { Clock } from "../../../core/runtime.ts";
import type { FrameWrite } from "../frame-storage.ts";
import type { ActContext } from "../intake/rules.ts";
import { isSamePerson } from "../shown-words.ts";
import type { DecisionRecord } from "../tables/operator.ts";
import { OperatorRefused, readActContext, readCommand, type WriteAct } from "./act.ts";
import type { ActCommit, ActRequest, ActRow, Deciding, Decision, SecondWord, Waits } from "./act-row.ts";
import type { Approval } from "./command.ts";
import { decidedMeanwhile, decisionWrite } from "./decisions.ts";

/** Where decisions are read, and acts are committed, whichever tables they write. */
interface ActStorage {
  decision(id: string): Promise<DecisionRecord | null>;
  commit(items: readonly AnyCommit[]): Promise<readonly CommitAnswer[]>;
}

interface ActRunnerParts {
  readonly storage: ActStorage;
  readonly clock: Clock;
  readonly writeAct: WriteAct;
  /** The number of people that it takes to decide what asks for a second word. */
  readonly approvals: 1 | 2;
}

/** The row of decisions about a subject, as it was before that was loaded. */
interface FoundDecision {
  readonly id: string;
  readonly before: DecisionRecord | null;
}

/** An act on its way. */
interface Underway<Given, Subject> extends Deciding<Given, Subject> {
  /** Null for an act without a row of decisions. */
  readonly decision: FoundDecision | null;
}

/** The second word: the confirming person, and the address that this person names. */
interface Confirming extends Approval {
  readonly by: ActContext;
}

/** The part of a stored request that every row writes. */
const requested = z.object({ actor: z.string() });

export class ActRunner {
  readonly #parts: ActRunnerParts;

  constructor(parts: ActRunnerParts) {
    this.#parts = parts;
  }

  /** Throws `OperatorRefused` for what cannot be carried out; then nothing has changed. */
  async run<Given, Subject, Told, W extends AnyWrite>(
    row: ActRow<Given, Subject, Told, W>,
    given: unknown,
    by: ActContext,
  ): Promise<Told> {
    return this.carryOut(row, readCommand(row.given, given), readActContext(by));
  }

  /** As `run`, of what was read. */
  async carryOut<Given, Subject, Told, W extends AnyWrite>(
    row: ActRow<Given, Subject, Told, W>,
    given: Given,
    by: ActContext,
  ): Promise<Told> {
    const { rounds = 1 } = row;
    for (let round = 1; ; round++) {
      const decision = await this.#decisionOf(row, given);
      const request = requestOf(decision?.before ?? null);
      const confirms = request !== null && row.isAsked?.(request, given) === true ? request : null;
      const underway = await this.#load(row, { given, by, confirms, decision });
      const decided = await row.decide(underway);
      const { second = null } = decided;
      if (confirms === null && second !== null) return this.#ask(underway, decided, second);
      if (confirms !== null) this.#refuseSamePerson(underway, confirms, second);
      const result = await this.#commit(underway, decided);
      if (result.ok) return this.#end(decided);
      if (rounds === 1) throw overtaken(decided, result);
      if (round === rounds) throw new Error(`${decided.subject} was changed by others in every round`);
    }
  }

  /** Confirms the request that waits. Throws as `run` does. */
  async confirm<Given, Subject, Told, W extends AnyWrite>(
    row: ActRow<Given, Subject, Told, W>,
    { id, subject, read }: Waits<Given>,
    { address, by }: Confirming,
  ): Promise<Told> {
    const before = await this.#parts.storage.decision(id);
    const confirms = requestOf(before);
    if (confirms === null) throw new OperatorRefused(`nothing of ${subject} waits for an approval`);
    const { given, action } = read(confirms);
    const underway = await this.#load(row, { given, by, confirms, decision: { id, before } });
    const decided = await row.decide(underway);
    const { second = null } = decided;
    this.#refuseSamePerson(underway, confirms, second);
    if (address !== second?.address) {
      const asked = second?.address === undefined ? "no address" : `the address ${second.address}`;
      throw new OperatorRefused(
        `${subject}: ${confirms.actor} has asked for ${action} with ${asked}: confirm that`,
      );
    }
    const result = await this.#commit(underway, decided);
    if (!result.ok) throw overtaken(decided, result);
    return this.#end(decided);
  }

  async #decisionOf<Given>(
    row: Pick<ActRow<Given, never, never>, "decision">,
    given: Given,
  ): Promise<FoundDecision | null> {
    const id = row.decision(given);
    return id === null ? null : { id, before: await this.#parts.storage.decision(id) };
  }

  /** The subject is loaded after the decision: whoever decides about it meanwhile makes the commit fail. */
  async #load<Given, Subject>(
    row: Pick<ActRow<Given, Subject, never>, "subject">,
    words: Omit<Underway<Given, Subject>, "subject" | "waiting">,
  ): Promise<Underway<Given, Subject>> {
    const subject = await row.subject(words.given);
    return { ...words, subject, waiting: words.decision?.before?.proposal ?? null };
  }

  #refuseSamePerson<Told>(
    { by }: { readonly by: ActContext },
    { actor }: ActRequest,
    second: SecondWord<Told> | null,
  ): void {
    const takesAnother = second?.by === "another" || this.#parts.approvals === 2;
    if (!takesAnother || !isSamePerson(actor, by.actor)) return;
    throw new OperatorRefused(`${actor} has asked for it: another actor has to ${second?.how ?? "approve"}`);
  }

  /** Keeps a request until it is confirmed; the newest about a subject counts. */
  async #ask<Told, W extends AnyWrite>(
    { by, decision }: Pick<Underway<never, never>, "by" | "decision">,
    { subject, what }: Decision<Told, W>,
    { act, request, told }: SecondWord<Told>,
  ): Promise<Told> {
    const { storage, writeAct } = this.#parts;
    if (decision === null) throw new Error(`${act} has no decision in which it could wait`);
    const writes = [...this.#guard(decision, request.text), writeAct({ by, act, what })];
    const result = await commitOne(storage, { writes });
    if (!result.ok) throw decidedMeanwhile(subject);
    return told;
  }

  /** Writes, decision, row of the audit log and event are one commit. */
  async #commit<Told, W extends AnyWrite>(
    { by, confirms, decision }: Pick<Underway<never, never>, "by" | "confirms" | "decision">,
    decided: Decision<Told, W>,
  ): Promise<CommitResult> {
    const { act, what, waiting = null, writes = [], retries, drops } = decided;
    const said = confirms === null ? what : { ...what, requestedBy: confirms.actor };
    const audit = this.#parts.writeAct({ by, act, what: said });
    const commit: ActCommit<W | FrameWrite> = {
      writes: [...this.#guard(decision, waiting), ...writes, audit],
      ...(retries !== undefined && { retries }),
      ...(drops !== undefined && { drops }),
    };
    return decided.send?.(commit) ?? commitOne(this.#parts.storage, commit);
  }

  #guard(decision: FoundDecision | null, proposal: string | null): readonly FrameWrite[] {
    if (decision === null) return [];
    const { id, before } = decision;
    return [decisionWrite(id, before, { proposal, decidedAt: this.#parts.clock.now() })];
  }

  async #end<Told>({ after, told }: Pick<Decision<Told, never>, "after" | "told">): Promise<Told> {
    await after?.();
    return told();
  }
}

function requestOf(decision: DecisionRecord | null): ActRequest | null {
  const text = decision?.proposal ?? null;
  return text === null ? null : { text, actor: requested.parse(JSON.parse(text)).actor };
}

/** The refusal of whoever was slower. */
function overtaken(
  { subject, retries, drops }: Pick<Decision<never>, "subject" | "retries" | "drops">,
  { conflict }: Exclude<CommitResult, { ok: true }>,
): OperatorRefused {
  if (conflict !== "token" || (retries ?? drops) === undefined) return decidedMeanwhile(subject);
  return new OperatorRefused(`${subject}: the task is done, or a process is doing it right now`);
}
