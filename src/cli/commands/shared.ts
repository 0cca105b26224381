/** Options that several commands take. */
import { flag, neededText, text } from "../../core/takes.ts";

export const JSON_LINE = { json: flag("one line of JSON") };

/** Names a file, or the database of a development folder. */
export const FILE = {
  data: text("DIR", "the folder of a paystate dev, default .paystate"),
  database: text("FILE", "your own database instead"),
};

/** Names any database. */
export const DATABASE = {
  data: FILE.data,
  database: text("FILE", "your own database instead; of PostgreSQL its URL"),
  schema: text("NAME", "the schema of paystate in PostgreSQL, default paystate"),
};

/** Names a service. */
export const SERVICE = {
  data: text("DIR", "the folder of a paystate dev, default .paystate, whether it runs or not"),
  service: text("FILE", "your own service instead: a module that exports it as `service`"),
};

/** The actor and the reason. */
export const ACTING = {
  actor: neededText("NAME", "who acts, for the audit log"),
  reason: neededText("TEXT", "why, for the audit log"),
};
