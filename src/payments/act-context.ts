/** The person behind an act of an operator. */

/**
 * A person and a reason, 1 to 200 characters each, without invisible or control characters. Both go to the audit log:
 * put no secret into them.
 */
export interface ActContext {
  readonly actor: string;
  readonly reason: string;
}
