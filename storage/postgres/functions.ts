/**
 * The functions that PostgreSQL runs for this adapter: a group of commits, a claim, a heartbeat and a release are one round
 * trip each. They lie in the schema under names that end in a digest of their text, so two versions of the program can
 * work side by side.
 */
import { createHash } from "node:crypto";
import { claimFunctions } from "./functions/claims.ts";
import { commitFunctions } from "./functions/commit.ts";
import { roomFunctions } from "./functions/rooms.ts";
import { server } from "./functions/server.ts";
import { withinFunctions } from "./functions/within.ts";

const source = [...roomFunctions, ...commitFunctions, ...claimFunctions, server, ...withinFunctions].join(
  "\n",
);

const digest = createHash("sha256").update(source).digest("hex").slice(0, 10);

/** Creates the functions, unless they exist. */
export const FUNCTIONS = source.replaceAll("_@", `_${digest}`);

/** The names of all of them. */
export const allFunctions: readonly string[] = [
  ...FUNCTIONS.matchAll(/create or replace function (\w+)/g),
].map(([, name = ""]) => name);

/** The names of those that are called. */
export const functionNames = {
  commit: `paystate_commit_${digest}`,
  claim: `paystate_claim_${digest}`,
  heartbeat: `paystate_heartbeat_${digest}`,
  release: `paystate_release_${digest}`,
  move: `paystate_move_${digest}`,
  hasRoom: `paystate_has_room_${digest}`,
  place: `paystate_place_${digest}`,
  server: `paystate_server_${digest}`,
  within: `paystate_within_${digest}`,
};
