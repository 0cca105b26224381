/** What the command says of arguments that it does not take, asked in this process: starting one takes a second each time. */
import { runCommand } from "../../src/cli/program.ts";
import { UsageError } from "../../src/cli/command.ts";

/** The sentence. Throws when the command does something else, or prints before it refuses. */
export async function wrongCall(args: readonly string[]): Promise<string> {
  const printed: string[] = [];
  const ended: unknown = await runCommand(args, (text) => void printed.push(text)).catch(
    (error: unknown) => error,
  );
  if (ended instanceof UsageError && printed.length === 0) return ended.message;
  throw new Error(
    `expected a refusal without a word before it, got ${String(ended)} after ${printed.join()}`,
  );
}
