/**
 * The database function that identifies the server, so that a process notices when a different server answers its
 * writes.
 */
import { OTHER_SERVER } from "./states.ts";

/**
 * The identity of the server and its timeline, which grows with each promotion; null where the role or the provider
 * hides them. Refuses a process that knows a different pair.
 */
export const server = `
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
