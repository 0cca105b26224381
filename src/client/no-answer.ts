/** The error for a request whose outcome is unknown. */

/** The facts about a request without an answer. */
export interface NoAnswerParts {
  readonly message: string;
  readonly status: number | null;
  /** Whether the same request may be answered soon. */
  readonly mayPass: boolean;
  readonly attempts: number;
  readonly idempotencyKey: string | null;
  readonly cause?: unknown;
}

/**
 * No usable answer came: the connection failed, the time was up, or what came is no answer of the service. Unknown is not
 * failed: the request may have been carried out. Call again with the same fields and this `idempotencyKey`: nothing is
 * done twice.
 */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  /** The status of the last answer; null without an answer. */
  readonly status: number | null;
  /** Whether the same request may be answered soon. False where asking again will not help, such as a wrong `baseUrl`. */
  readonly mayPass: boolean;
  /** How many requests were sent. */
  readonly attempts: number;
  /** The key that the request was sent with; null where it had none. */
  readonly idempotencyKey: string | null;

  constructor({ message, status, mayPass, attempts, idempotencyKey, cause }: NoAnswerParts) {
    super(message, { cause });
    this.status = status;
    this.mayPass = mayPass;
    this.attempts = attempts;
    this.idempotencyKey = idempotencyKey;
  }
}
