/** All commands, in the order of help. */
import { accountCommands } from "./commands/account.ts";
import { databaseCommands } from "./commands/database.ts";
import { eachCommand } from "./commands/each.ts";
import { instanceCommands } from "./commands/instance.ts";
import { operatorCommands } from "./commands/operator.ts";
import { scheduleCommands } from "./commands/schedule.ts";
import { startCommands } from "./commands/start.ts";
import type { CommandRow } from "./define.ts";

// A line for each module, which goes with the module.
// prettier-ignore
export const COMMANDS: readonly CommandRow[] = [
  ...startCommands,
  ...databaseCommands,
  ...instanceCommands,
  eachCommand,
  ...scheduleCommands,
  ...operatorCommands,
  ...accountCommands,
];

/** The meaning of the first word in commands of two words. */
export const GROUPS: Readonly<Record<string, string>> = {
  instance: "Instances of any database, also while a service runs on it",
  schedule: "Acts on schedules of any database",
  operator: "The operator's room: matters, decisions, limits, and the audit log",
  account: "Accounts of the payment service",
  key: "API keys of an account",
};
