/** Who stands behind an act of an operator. */

/**
 * Who acts and why, each 1 to 200 characters, none of them invisible or a control character. Both are kept in the audit log:
 * put no secret into them.
 */
export interface ActContext {
  readonly actor: string;
  readonly reason: string;
}
