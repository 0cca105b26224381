/** The types of commands, and of their output to stdout. */

/** Prints one line, or a page of several. */
export type Print = (text: string) => void;

/** A command: `args` are those after its name. Throws `UsageError` for arguments that it does not take. */
export type Command = (args: readonly string[], print: Print) => Promise<void>;
