/**
 * The functions that PostgreSQL runs for this adapter: a group of commits, a claim, a heartbeat and a release are one round
 * trip each. They lie in the schema under names that end in a digest of their text: two versions of the program can work side
 * by side.
 */
import { createHash } from "node:crypto";
import { claimFunctions } from "./functions/claims.ts";
import { commitFunctions } from "./functions/commit.ts";
import { roomFunctions } from "./functions/rooms.ts";
import { OTHER_SERVER } from "./functions/states.ts";
import { withinFunctions } from "./functions/within.ts";

/** The server and its timeline, which grows with each promotion; null where hidden. Refuses a process that knows another. */
const server = `
create or replace function paystate_server_@(known text) returns text language plpgsql as $body$
declare
  here text;
begin
  begin
    here := (select system_identifier from pg_control_system())::text || '/'
      || ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint;
  exception when others then return null;
  end;
  if known <> here then raise exception using errcode = '${OTHER_SERVER}', message = here; end if;
  return here;
end $body$;`;

const source = [...roomFunctions, ...commitFunctions, ...claimFunctions, server, ...withinFunctions].join(
  "\n",
);

const digest = createHash("sha256").update(source).digest("hex").slice(0, 10);

export const FUNCTIONS = source.replaceAll("_@", `_${digest}`);

export const allFunctions: readonly string[] = [
  ...FUNCTIONS.matchAll(/create or replace function (\w+)/g),
].map(([, name = ""]) => name);

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
  withinWith: `paystate_within_with_${digest}`,
};
