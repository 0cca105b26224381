/** The parts of a command: its output, the error for a wrong call, and its end. */

/** Prints one line, or a page of several. */
export type Print = (text: string) => void;

/** The command was called with arguments it does not take; the message names the one and what would be right. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** The command that refuses, in words that its help takes; the parser fills it in. */
  command = "paystate";
}

/** A service of the host's own may keep the process alive; what was printed has to be out before it ends. */
export async function end(code: number): Promise<void> {
  await new Promise((resolve) => {
    process.stdout.write("", resolve);
  });
  process.exit(code);
}
