/** How the demo speaks: coloured on a terminal, plain everywhere else. */
import { styleText } from "node:util";

type Format = Parameters<typeof styleText>[0];

function paint(format: Format, text: string): string {
  return process.stdout.isTTY && process.stdout.hasColors() ? styleText(format, text) : text;
}

function line(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Begins an act. */
export function title(text: string): void {
  line(`\n${paint("bold", text)}`);
}

/** A fact in passing. */
export function note(text: string): void {
  line(`  ${paint("dim", text)}`);
}

/** Something that somebody did. */
export function step(what: string, text: string): void {
  line(`  ${paint("cyan", what.padEnd(10))}${text}`);
}

/** Something that turned out right. */
export function ok(text: string): void {
  line(`  ${paint("green", "✓")} ${text}`);
}

/** An amount of money. */
export function money(text: string): string {
  return paint("bold", text);
}

/** Something that turned out wrong: ends the demo. */
export function fail(text: string): never {
  throw new Error(text);
}
