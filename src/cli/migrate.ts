/** `paystate migrate`: an SQLite database goes on in PostgreSQL. */
import { type CopiedRows, type Move, type MoveProgress, moveToPostgres } from "../../storage/move.ts";
import type { Print } from "./command.ts";
import { ProgressBar } from "./progress-bar.ts";
import { table } from "../core/table.ts";

/** Moves, and prints what was counted and summed while every row was read back. */
export async function migrate(move: Move, print: Print, json: boolean): Promise<void> {
  const bar = new ProgressBar(process.stdout);
  const onProgress = ({ sentRows, readBackRows, rows }: MoveProgress): void =>
    bar.show(
      `${sentRows} of ${rows} rows copied, ${readBackRows} read back`,
      rows === 0 ? 1 : (sentRows + readBackRows) / (2 * rows),
    );
  const moved = await moveToPostgres({ ...move, onProgress }).finally(() => bar.clear());
  if (json) {
    print(JSON.stringify(moved, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)));
    return;
  }
  if (!moved.wasThere) print(table(["TABLE", "ROWS", "SUMS"], moved.tables.map(counted), "no table"));
  const { place, leftBehind, wasThere } = moved;
  print(
    wasThere
      ? `${place} holds everything since an earlier run, and ${move.from} is given up.`
      : `${place} holds all of ${move.from}, every row read back and equal, and ${move.from} is given up.`,
  );
  if (leftBehind.length > 0) print(`Not paystate's, and not copied: ${leftBehind.join(", ")}.`);
  const options = move.schema === undefined ? "" : `, { schema: "${move.schema}" }`;
  print(
    `Start the service on it with postgresStorage(URL${options}). Keep the file away from every service.`,
  );
}

function counted({ table: name, rows, sums }: CopiedRows): readonly string[] {
  const added = Object.entries(sums).map(([column, sum]) => `${column} ${sum}`);
  return [name, String(rows), added.join(", ")];
}
