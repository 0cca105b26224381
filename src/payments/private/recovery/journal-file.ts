/** A recovery journal in a file. */
import { open, type FileHandle } from "node:fs/promises";
import { OperatorRefused } from "../../frame/acts/act.ts";
import { journalLine, type EndLine, type JournalLine, type RecoveryJournal } from "./journal.ts";

/** The bytes of one read, from the end: most ends are looked for within an hour of their order's line. */
const BLOCK_BYTES = 65_536;

/**
 * A journal for one machine: `recovery: recoveryFile("/backup/orders.jsonl")`. Put the file on a different disk than
 * the database, or copy it away as it grows. A new file gets mode 0600. Several processes may append to one file: each
 * line is a single write. Lines that a crash has torn are left out when it is read: nothing rests on them yet.
 *
 * @example
 * ```ts
 * import { recoveryFile } from "paystate";
 *
 * const recovery = recoveryFile("orders.jsonl"); // the option `recovery` of `createPaymentService`
 * await recovery.write({ id: "tx_1", status: "cancelled", reason: null }); // the service does this
 * console.log((await recovery.endOf("tx_1"))?.status); // cancelled
 * ```
 */
export function recoveryFile(path: string): RecoveryJournal {
  return {
    async write(line) {
      const file = await open(path, "a", 0o600);
      try {
        // The leading newline keeps the line readable after one that a crash has cut short.
        await file.appendFile(`\n${JSON.stringify(line)}\n`);
        await file.datasync();
      } finally {
        await file.close();
      }
    },
    async endOf(id) {
      const file = await openIfThere(path);
      if (file === null) return null;
      try {
        return await firstEnd(file, id);
      } finally {
        await file.close();
      }
    },
    async *read() {
      const file = await openIfThere(path);
      if (file === null) return;
      let number = 0;
      // Reading to the end closes the file.
      for await (const text of file.readLines()) {
        number++;
        const line = lineIn(text);
        if (line === "wrong") {
          throw new OperatorRefused(`${path}: line ${number} is no line of a recovery journal`);
        }
        if (line !== null) yield line;
      }
    },
  };
}

function openIfThere(path: string): Promise<FileHandle | null> {
  return open(path, "r").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  });
}

/** Goes back through the file as far as the order's own line, which stands before all of its ends. */
async function firstEnd(file: FileHandle, id: string): Promise<EndLine | null> {
  const { size } = await file.stat();
  let first: EndLine | null = null;
  // The beginning of the block behind, which may be the end of a line.
  let behind = Buffer.alloc(0);
  for (let end = size; end > 0; end -= BLOCK_BYTES) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const { buffer } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
    const bytes = Buffer.concat([buffer, behind]);
    const whole = start === 0 ? 0 : bytes.indexOf("\n") + 1;
    // A line longer than the block: it begins in the block before.
    behind = whole === 0 && start > 0 ? bytes : bytes.subarray(0, whole);
    if (whole === 0 && start > 0) continue;
    for (const text of bytes.subarray(whole).toString("utf8").split("\n").toReversed()) {
      const line = text.includes(id) ? lineIn(text) : null;
      if (line === null || line === "wrong" || line.id !== id) continue;
      if ("layout" in line) return first;
      first = line;
    }
  }
  return first;
}

/** A failure of power may leave zeros where a line was about to be written. */
const ZEROS = /^\0+|\0+$/g;

/** The line of a text: null for an empty or a torn one. */
function lineIn(given: string): JournalLine | "wrong" | null {
  const text = given.replaceAll(ZEROS, "").trim();
  if (text === "") return null;
  try {
    const read = journalLine.safeParse(JSON.parse(text));
    return read.success ? read.data : "wrong";
  } catch {
    return text.startsWith("{") ? null : "wrong";
  }
}
