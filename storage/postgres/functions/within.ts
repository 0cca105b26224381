/** The database functions that add a commit to the transaction of a host. */
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

/** The name of the one query that is prepared at a time. */
const QUERY = "paystate_query";

/**
 * The same with queries of the host behind the rows, which find tables as the session does: the function sets no path, and so
 * it is told the schema. A query is prepared, so that the database itself finds the types of its parameters.
 */
const withQueries = `
create or replace function paystate_within_with_@(schema text, request jsonb, queries jsonb) returns jsonb language plpgsql as $body$
declare
  query jsonb;
  place int := 0;
  answer jsonb;
  state text;
  broken text;
begin
  begin
    execute format('select %I.paystate_within_@($1)', schema) into answer using request;
    if answer <> '{}' then return answer; end if;
    for query in select * from jsonb_array_elements(queries) loop
      execute 'prepare ${QUERY} as ' || (query->>'sql');
      execute 'execute ${QUERY}' || coalesce((
        select '(' || string_agg(quote_nullable(value), ', ' order by at) || ')'
          from jsonb_array_elements_text(query->'values') with ordinality as given (value, at)), '');
      deallocate ${QUERY};
      place := place + 1;
    end loop;
  exception when others then
    get stacked diagnostics state = returned_sqlstate, broken = constraint_name;
    -- What was prepared outlasts the subtransaction.
    if exists (select from pg_prepared_statements where name = '${QUERY}') then deallocate ${QUERY}; end if;
    return jsonb_build_object('query', place, 'code', state, 'message', sqlerrm, 'constraint', nullif(broken, ''));
  end;
  return '{}';
end $body$;`;

export const withinFunctions = [within, withQueries];
