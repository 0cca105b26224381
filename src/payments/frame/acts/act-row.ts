/** An act of an operator as a row: fields, subject, precondition, second word, and one commit. */
import type { z } from "zod";
import type { AnyWrite, CommitParts, CommitResult } from "../../../../storage/storage.ts";
import type { Address } from "../../../core/address.ts";
import type { FrameWrite } from "../frame-storage.ts";
import type { ActContext } from "../intake/rules.ts";
import type { ActName } from "./act.ts";

/** An act that an operator asks for, with the rows of its subject. */
export interface Deciding<Given, Subject> {
  readonly given: Given;
  readonly by: ActContext;
  readonly subject: Subject;
  /** The request that this word confirms; null for a first word. */
  readonly confirms: ActRequest | null;
  /** The request about the same subject that waits for a second word; null if no request waits. */
  readonly waiting: string | null;
}

/** A request that waits for its second word. */
export interface ActRequest {
  /** The person who has asked. */
  readonly actor: string;
  /** JSON, as the row wrote it; its field `actor` is that person. */
  readonly text: string;
}

/** The second word that an act needs, and what the confirming person is shown. */
export interface SecondWord<Told> {
  readonly by: "any" | "another";
  /** The act of the audit log that says that it was asked for. */
  readonly act: ActName;
  readonly request: ActRequest;
  /** The receiver of the money, whom the confirming person has to name. */
  readonly address?: Address;
  /** The task of the other person, as a sentence. */
  readonly how: string;
  readonly told: Told;
}

/** The parts of one commit: an act's writes with its row of the audit log and its decision. */
export interface ActCommit<W extends AnyWrite = AnyWrite> extends Pick<CommitParts, "retries" | "drops"> {
  readonly writes: readonly W[];
}

/** An act that the subject takes. */
export interface Decision<Told, W extends AnyWrite = FrameWrite> extends Pick<
  CommitParts,
  "retries" | "drops"
> {
  readonly act: ActName;
  /** For the audit log; holds no secret. */
  readonly what: Readonly<Record<string, unknown>>;
  /** Names the subject to the slower one of two operators. */
  readonly subject: string;
  readonly writes?: readonly W[];
  /** The request that goes on waiting for a second word after the commit. Default: no request. */
  readonly waiting?: string | null;
  /** Null where one word is enough. */
  readonly second?: SecondWord<Told> | null;
  /** Commits it with the event that the subject takes. Throws `OperatorRefused` where it takes none. Default: without an event. */
  send?(commit: ActCommit<W | FrameWrite>): Promise<CommitResult>;
  /** Done once it is durable, and again where that is cut off and the same is asked for. */
  readonly after?: () => Promise<unknown>;
  readonly told: () => Told | Promise<Told>;
}

/** An act. A table is a list of these, each made with the parts that it needs. */
export interface ActRow<Given, Subject, Told, W extends AnyWrite = FrameWrite> {
  /** The schema of what the operator gives. */
  readonly given: z.ZodType<Given>;
  /** The row of decisions that two operators at once cannot both write; null where the writes themselves expect a version. */
  decision(given: Given): string | null;
  /** Loads the subject, after the decision's version was read. Throws `OperatorRefused` for what is not there. */
  subject(given: Given): Promise<Subject>;
  /** Asks the precondition: throws `OperatorRefused` for an act that the subject does not take now. */
  decide(deciding: Deciding<Given, Subject>): Decision<Told, W> | Promise<Decision<Told, W>>;
  /** Whether the request that waits is for the same: then the same act by another person is the second word. */
  isAsked?(request: ActRequest, given: Given): boolean;
  /** How often it is decided anew while others change the same; once by default. */
  readonly rounds?: number;
}

/** A decision that may wait for its second word. */
export interface Waits<Given> {
  /** The id of the row of decisions. */
  readonly id: string;
  /** The name of the subject, such as "order tx_1". */
  readonly subject: string;
  /** Reads the fields of a stored request, and the name of its act. */
  readonly read: (request: ActRequest) => { readonly given: Given; readonly action: string };
}
