/** Idempotency keys: stores an answer for each key, in the commit of the answered effect. */
import { commitOne, CommitUnknown } from "../../../../storage/decided.ts";
import type { FrameStorage, FrameWrite } from "../frame-storage.ts";
import { PaymentError, fieldError } from "../../../errors/errors.ts";
import type { Clock } from "../../../core/runtime.ts";
import type { Caller } from "./caller.ts";
import type { LimitStatus } from "./count-hit.ts";
import { sha256Hex } from "../ids.ts";

/** Options of a request besides its body. */
export interface RequestOptions {
  /** 1–255 visible ASCII characters, unique per account, method and path. */
  readonly idempotencyKey?: string;
  /** SHA-256 of the raw request body, hex; by default that of the request as JSON. */
  readonly fingerprint?: string;
  /** Told how an account stands with a limit once this request was counted. */
  readonly onLimit?: (standing: LimitStatus) => void;
  /** Told once that the request is no replay, before anything is decided. An exception refuses the request. */
  readonly onNew?: () => void;
  /** Told that the request is a replay, before anything is kept of it. An exception refuses the request. */
  readonly onReplay?: () => Promise<void>;
  /**
   * Told how many addresses a quote asks about, before anybody is asked, also when the quote is refreshed. An exception
   * refuses the request.
   */
  readonly onParties?: (count: number) => void;
}

/** The answer to a POST: the body, its exact text, and whether it was said before. */
export interface Answer<Body> {
  readonly body: Body;
  readonly text: string;
  readonly replayed: boolean;
}

/** A decision of a use case, ready to commit: `commit` answers false when it has to decide again. */
export interface Decision<Body> {
  readonly body: Body;
  /** Commits the effect together with these writes; false when another commit came first. Throws its refusal. */
  readonly commit: (writes: readonly FrameWrite[]) => Promise<boolean>;
}

type TakeBack = () => Promise<void>;

/** After a lost race the use case decides again and finds out why; more rounds than this are a fault. */
const MAX_ROUNDS = 20;

interface CallerRequest<Body> {
  readonly caller: Caller;
  readonly path: string;
  readonly request: unknown;
  readonly options: RequestOptions;
  /** Counts a request that is no replay against its limit, once, also when it is refused. */
  readonly count?: () => Promise<TakeBack>;
  /** The body that this very request was granted under another key or under none; null for a new request. */
  readonly granted?: () => Promise<Body | null>;
  /** Calls back when others that would only lose a race against it have ended; it waits once it was counted. */
  readonly inTurn?: <T>(act: () => Promise<T>) => Promise<T>;
}

interface AnswerParts {
  readonly storage: FrameStorage;
  readonly clock: Clock;
}

/**
 * Answers a request at most once per key. The same key and fingerprint again get the stored answer byte for byte,
 * another fingerprint `IDEMPOTENCY_KEY_REUSED`; of two at once the loser replays the winner's answer. Only successes
 * are stored: what throws is evaluated again. `decide` answers null when it has to decide again.
 */
export async function answerOnce<Body>(
  deps: AnswerParts,
  asked: CallerRequest<Body>,
  decide: () => Promise<Decision<Body> | null>,
): Promise<Answer<Body>> {
  const keyed = new KeyedRequest<Body>(deps, asked);
  await keyed.checkKey();
  const before = await keyed.answerBefore();
  if (before !== null) return before;
  await keyed.countNew();
  const { inTurn = (act) => act() } = asked;
  return inTurn(() => decidedAnswer(keyed, decide));
}

/** Decides until an answer stands. A refusal, or a commit that is refused, may come of what others have committed: then it looks again. */
async function decidedAnswer<Body>(
  keyed: KeyedRequest<Body>,
  decide: () => Promise<Decision<Body> | null>,
): Promise<Answer<Body>> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const answer = await keyed.answerNow(decide).catch(async (refusal: unknown) => {
      // The database did not answer when it was asked what became of this very commit.
      if (refusal instanceof CommitUnknown) throw refusal;
      // The same request may have been granted meanwhile, and have taken the last room there was.
      const first = await keyed.answerBefore();
      if (first === null) throw refusal;
      return first;
    });
    const now = answer ?? (await keyed.answerBefore());
    if (now !== null) return now;
  }
  throw new Error("a request lost every race it was in");
}

/** A request, the row under which its answer is kept, and whether it was counted. */
class KeyedRequest<Body> {
  readonly #deps: AnswerParts;
  readonly #asked: CallerRequest<Body>;
  /** Null without a key: then nothing is kept. */
  readonly #id: string | null;
  readonly #fingerprint: string;
  #isNew = false;
  #takeBack: TakeBack | undefined;

  constructor(deps: AnswerParts, asked: CallerRequest<Body>) {
    this.#deps = deps;
    this.#asked = asked;
    const { caller, path, request, options } = asked;
    const { idempotencyKey: key, fingerprint = sha256Hex(JSON.stringify(request ?? null)) } = options;
    this.#fingerprint = fingerprint;
    this.#id = key === undefined ? null : sha256Hex(["POST", path, caller.accountId, key].join("\n"));
  }

  /** Throws `VALIDATION_ERROR`. */
  async checkKey(): Promise<void> {
    const { idempotencyKey: key } = this.#asked.options;
    if (key !== undefined && !KEY_SHAPE.test(key)) await this.#refuse(malformedKey());
  }

  /** The stored answer of this key or of this request; null for a new one. Throws `IDEMPOTENCY_KEY_REUSED`. */
  async answerBefore(): Promise<Answer<Body> | null> {
    const stored = await this.#storedText();
    if (stored !== null) await this.#countReplay();
    const text = stored ?? (await this.#grantedText());
    if (text === null) return null;
    return { body: JSON.parse(text) as Body, text, replayed: true };
  }

  /** Where the same request won the race, the count of this request is taken back. */
  async #countReplay(): Promise<void> {
    await this.#takeBack?.();
    await this.#asked.options.onReplay?.();
  }

  async #storedText(): Promise<string | null> {
    const said = this.#id === null ? null : await this.#deps.storage.idempotency(this.#id);
    if (said === null) return null;
    if (said.fingerprint !== this.#fingerprint) {
      const { transactionId } = JSON.parse(said.answer) as { readonly transactionId?: string };
      const made = transactionId === undefined ? {} : { transactionId };
      return this.#refuse(new PaymentError("IDEMPOTENCY_KEY_REUSED", made));
    }
    return said.answer;
  }

  /** The answer that the request got without this key; it is kept under the key from now on. */
  async #grantedText(): Promise<string | null> {
    const body = (await this.#asked.granted?.()) ?? null;
    if (body === null) return null;
    await this.#countReplay();
    const text = JSON.stringify(body);
    const writes = this.#writes(text);
    const isKept = writes.length === 0 || (await commitOne(this.#deps.storage, { writes })).ok;
    // Another request has taken the key meanwhile: the answer of that request is kept.
    return isKept ? text : this.#storedText();
  }

  /** Null when another commit came first. */
  async answerNow(decide: () => Promise<Decision<Body> | null>): Promise<Answer<Body> | null> {
    const decided = await decide();
    if (decided === null) return null;
    const { body, commit } = decided;
    const text = JSON.stringify(body);
    return (await commit(this.#writes(text))) ? { body, text, replayed: false } : null;
  }

  #writes(answer: string): readonly FrameWrite[] {
    const [id, fingerprint] = [this.#id, this.#fingerprint];
    if (id === null) return [];
    const createdAt = this.#deps.clock.now();
    return [{ table: "idempotency", insert: { id, fingerprint, answer, createdAt } }];
  }

  /** Counts a new request against its limit, once. */
  async countNew(): Promise<void> {
    if (this.#isNew) return;
    this.#isNew = true;
    this.#asked.options.onNew?.();
    this.#takeBack = await this.#asked.count?.();
  }

  async #refuse(refusal: PaymentError): Promise<never> {
    await this.countNew();
    throw refusal;
  }
}

const KEY_SHAPE = /^[\x21-\x7e]{1,255}$/;

function malformedKey(): PaymentError {
  return fieldError("Idempotency-Key", "expected 1 to 255 visible ASCII characters");
}
