/** The database function that adds a commit to the transaction of a host. */
import { KEPT_PLANS } from "./kept-plans.ts";
import { REFUSED } from "./states.ts";

/** Messages of a host's transaction, which may last and locks no key: the next claim parks them behind what is parked. */
export const UNADMITTED = `"deadAt" is null and kind = 'message' and admission = 'paused'`;

/** Serves the look of each claim for such messages. */
export const UNADMITTED_INDEX = `create index if not exists "paystateTasks_unadmitted" on "paystateTasks" (seq) where ${UNADMITTED}`;

/**
 * Adds the rows of one commit, in a subtransaction: what is refused or fails leaves the transaction of the host as it was.
 * Called with the path of the host, so the schema is named by the function itself, before the host's temporary tables.
 * The wake-up is delivered at the COMMIT.
 */
const within = `
create or replace function paystate_within_@(request jsonb) returns jsonb language plpgsql
set search_path from current ${KEPT_PLANS} as $body$
#variable_conflict use_column
declare
  each jsonb;
begin
  -- Names are sought in the schema, and in that of temporary tables last.
  if pg_current_xact_id()::text <> request->>'transaction' then return '{"ended": true}'; end if;
  if split_part(paystate_server_@(null), '/', 1) <> request->>'server' then return '{"elsewhere": true}'; end if;
  begin
    if request->'names' <> '[]' then perform paystate_lock_@(request->'names'); end if;
    for each in select * from jsonb_array_elements(request->'rows') loop
      execute request->'statements'->>(each->>'statement')::int using array(select jsonb_array_elements_text(each->'keys'));
    end loop;
    perform paystate_apply_@(request->'run', request->'statements', '{}', '[]');
    if request ? 'wakes' then perform pg_notify(request->>'wakes', 'within'); end if;
  exception
    when sqlstate '${REFUSED}' then return jsonb_build_object('refused', sqlerrm);
    when others then return jsonb_build_object('code', sqlstate, 'message', sqlerrm);
  end;
  return '{}';
end $body$;`;

export const withinFunctions = [within];
