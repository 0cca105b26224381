#!/usr/bin/env node
/** The `paystate` command: runs the command in its arguments, and reports an error in a sentence. */
import { inspect } from "node:util";
import { UsageError } from "./command.ts";
import { runCommand } from "./program.ts";
import { inLines } from "../core/terminal-text.ts";

/** The exit code of a reconciliation that could not look. */
const NOTHING_CONCLUDED = 2;

const args = process.argv.slice(2);

function explain(error: unknown): void {
  const isDebugging = args.includes("--debug");
  process.stderr.write(`paystate: ${inLines(isDebugging ? inspect(error) : (error as Error).message)}\n`);
  if (error instanceof UsageError) {
    process.stderr.write(`Run \`${error.command} --help\` for what it takes.\n`);
  }
  // Handles that a command had opened before it failed must not keep the process alive.
  process.exit(args[0] === "operator" && args[1] === "reconcile" ? NOTHING_CONCLUDED : 1);
}

runCommand(args, (text) => void process.stdout.write(`${inLines(text)}\n`)).catch(explain);
