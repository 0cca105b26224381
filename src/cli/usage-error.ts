/** The command was called with arguments it does not take; the message names the one and what would be right. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
