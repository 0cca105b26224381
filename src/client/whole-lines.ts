/** Reads an export line by line, and believes it only when its last line says how many rows there were. */
import { NoAnswer } from "./no-answer.ts";

const END = "#end,";
/** No row is as long by far. */
const MAX_LINE = 64 * 1024;

/** The header and the rows, each without its end of line. Throws `NoAnswer` behind them where some are missing. */
export async function* wholeLines(parts: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let begun = "";
  let rows = -1;
  let told: string | null = null;
  for await (const part of parts) {
    const lines = `${begun}${part}`.split("\r\n");
    begun = lines.pop() ?? "";
    for (const line of lines) {
      if (told !== null) throw notWhole("it goes on where it should end");
      if (line.startsWith(END)) told = line.slice(END.length);
      else {
        rows += 1;
        yield line;
      }
    }
    if (begun.length > MAX_LINE) throw notWhole("a line does not end");
  }
  if (told === null || begun !== "") throw notWhole("its last line is missing");
  if (told !== String(rows)) throw notWhole(`it has ${rows} rows, and says ${told}`);
}

function notWhole(why: string): NoAnswer {
  return new NoAnswer({
    message: `the export cannot be used: ${why}`,
    status: 200,
    mayPass: true,
    attempts: 1,
    idempotencyKey: null,
  });
}
