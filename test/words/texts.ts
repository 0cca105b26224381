/** The texts that people read, by group: comments, what the package says at run time, and pages for users. */
import { readFileSync } from "node:fs";
import { wholeHelp } from "../../src/cli/program.ts";
import { ERRORS, type ErrorCode } from "../../src/errors/error-table.ts";
import { remediesOf } from "../../src/errors/remedies.ts";
import { filesBelow, ROOT, textOf } from "../readme/page.ts";
import { PAGES_FOR_USERS } from "../site/doors.ts";
import { commentSentences, pageSentences, type Sentence } from "./sentences.ts";

/** A file, or a table of messages, with its sentences. */
export interface Text {
  readonly place: string;
  readonly sentences: readonly Sentence[];
}

const ROOMS = ["src", "storage", "machines"];

const comments = (): readonly Text[] =>
  ROOMS.flatMap((room) => filesBelow(room).map((path) => `${room}/${path}`))
    .filter((path) => path.endsWith(".ts"))
    .map((place) => ({ place, sentences: commentSentences(readFileSync(`${ROOT}${place}`, "utf8")) }));

const told = (place: string, lines: readonly string[]): Text => ({
  place,
  sentences: lines.flatMap((line) => pageSentences(line)),
});

const messages = (): readonly Text[] => {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return [
    told(
      "error-table.ts",
      codes.map((code) => ERRORS[code].message),
    ),
    told(
      "remedies.ts",
      codes.flatMap((code) => remediesOf(code).map(({ remedy }) => remedy)),
    ),
    told(
      "paystate --help",
      wholeHelp()
        .replaceAll(/\n {20,}/g, " ")
        .split(/\n| {2,}/),
    ),
  ];
};

const pages = (): readonly Text[] =>
  [...PAGES_FOR_USERS, "SECURITY.md"].map((place) => ({ place, sentences: pageSentences(textOf(place)) }));

/** The texts of each group. */
export const GROUPS = { comments, messages, pages } as const;
export type Group = keyof typeof GROUPS;
