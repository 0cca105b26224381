/** What a command is made of: its output, the error for a wrong call, and its end. */

/** Prints one line, or a page of several. */
export type Print = (text: string) => void;

/** A command: `args` are those after its name. Throws `UsageError` for arguments that it does not take. */
export type Command = (args: readonly string[], print: Print) => Promise<void>;

/** The command was called with arguments it does not take; the message names the one and what would be right. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A service of the host's own may keep the process alive; what was printed has to be out before it ends. */
export async function end(code: number): Promise<void> {
  await new Promise((resolve) => {
    process.stdout.write("", resolve);
  });
  process.exit(code);
}
