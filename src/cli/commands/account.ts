/** Commands on accounts and their keys, straight on a database; a service may be at work on it. */
import type * as accounts from "../accounts.ts";
import { SCOPES } from "../../payments/frame/accounts/caller.ts";
import {
  argument,
  commas,
  duration,
  neededOneOf,
  neededText,
  oneOfOr,
  optionalNumber,
} from "../../core/takes.ts";
import { command } from "../define.ts";
import { DATABASE, JSON_LINE, SERVICE } from "./shared.ts";

const ON_DATABASE = { ...DATABASE, ...JSON_LINE };
const ACCOUNT = { id: argument("ACCOUNT_ID", "the id of an account") };
const KEY = { id: argument("KEY_ID", "the id of a key") };

const load = (): Promise<typeof accounts> => import("../accounts.ts");

export const accountCommands = [
  command({
    name: "account create",
    help: "Makes an account, and prints its id",
    takes: {
      name: argument("NAME", "for people"),
      tier: neededOneOf("TIER", ["free", "pro", "enterprise"], "decides about its limits"),
      ...ON_DATABASE,
    },
    run: async (values, print) => (await load()).createAccount(values, print),
  }),
  command({
    name: "account list",
    help: "Lists all accounts",
    takes: ON_DATABASE,
    run: async (values, print) => (await load()).listAccounts(values, print),
  }),
  command({
    name: "account export",
    help: "Prints the sums of its transactions of up to 31 days as CSV. The last line, #end,<rows>, says that it is whole.",
    takes: {
      ...ACCOUNT,
      from: neededText("TIME", "in UTC, such as 2027-01-31T12:00:00Z"),
      to: neededText("TIME", "at most 31 days later"),
      by: oneOfOr(
        "END",
        ["created", "final"],
        "by the time when they were taken, or when their ends were written",
      ),
      ...SERVICE,
    },
    run: async (values) => (await import("../export-account.ts")).exportAccount(values),
  }),
  command({
    name: "key create",
    help: "Makes a key, which is shown once",
    takes: {
      ...ACCOUNT,
      scopes: commas("SCOPE", `what it may do, default all: ${SCOPES.join(", ")}`),
      allow: commas("ADDRESS", "addresses or networks of its users, such as 203.0.113.0/24; default any"),
      expiresIn: optionalNumber("DAYS", "how long it works, default for good", { least: 1, most: 3_650 }),
      ...ON_DATABASE,
    },
    run: async (values, print) => (await load()).createKey(values, print),
  }),
  command({
    name: "key list",
    help: "Lists the keys of an account",
    takes: { ...ACCOUNT, ...ON_DATABASE },
    run: async (values, print) => (await load()).listKeys(values, print),
  }),
  command({
    name: "key rotate",
    help: "Makes a key in the place of another one, and shows it once",
    takes: {
      ...KEY,
      overlap: duration("TIME", "how long the key before still works, such as 30m, 7d; default 24h", "90d"),
      ...ON_DATABASE,
    },
    run: async (values, print) => (await load()).rotateKey(values, print),
  }),
  command({
    name: "key revoke",
    help: "Revokes a key: its next request is refused",
    takes: { ...KEY, ...ON_DATABASE },
    run: async (values, print) => (await load()).revokeKey(values, print),
  }),
];
