/** How the demo speaks: coloured on a terminal, plain everywhere else. */
import { clearLine, cursorTo } from "node:readline";
import { styleText } from "node:util";

type Format = Parameters<typeof styleText>[0];

const BAR_WIDTH = 40;

/** Whether the last line on the terminal is a bar that may still grow. */
let isBarOpen = false;

function paint(format: Format, text: string): string {
  return process.stdout.isTTY && process.stdout.hasColors() ? styleText(format, text) : text;
}

function line(text: string): void {
  endBar();
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

/** Something that a person did. */
export function step(what: string, text: string): void {
  line(stepText(what, text));
}

function stepText(what: string, text: string): string {
  return `  ${paint("cyan", what.padEnd(10))}${text}`;
}

/** Something that turned out right. */
export function ok(text: string): void {
  line(`  ${paint("green", "✓")} ${text}`);
}

/** An amount of money. */
export function money(text: string): string {
  return paint("bold", text);
}

/** Says on stderr what went wrong. */
export function complain(text: string): void {
  endBar();
  process.stderr.write(`${text}\n`);
}

/** Leaves the line of a bar, so that what comes next does not stand beside it. */
export function endBar(): void {
  if (!isBarOpen) return;
  isBarOpen = false;
  process.stdout.write("\n");
}

/** Shows how much of something is done: as a bar that grows on a terminal, as a line for each change elsewhere. */
export function progress(what: string, total: number, unit: string): (done: number) => void {
  let shown = -1;
  return (done) => {
    const count = `${done} of ${total} ${unit}`;
    if (process.stdout.isTTY) drawBar(what, done / total, count);
    else if (done !== shown) step(what, count);
    shown = done;
  };
}

function drawBar(what: string, share: number, count: string): void {
  const filled = Math.floor(share * BAR_WIDTH);
  const bar = paint("green", "█".repeat(filled)) + paint("dim", "░".repeat(BAR_WIDTH - filled));
  cursorTo(process.stdout, 0);
  clearLine(process.stdout, 1);
  process.stdout.write(stepText(what, `${bar} ${count}`));
  isBarOpen = true;
}
