/** The workflows of which there is an instance: from one to the next by one seek each, however many lie between them. */
import type { Statement } from "../sql/statement.ts";

export const instanceWorkflows: Statement<object, { workflow: string }> = {
  sql: `with recursive found (workflow) as (
      (select workflow from instances order by workflow limit 1)
      union all
      select next.workflow from found cross join lateral (
        select i.workflow from instances i where i.workflow > found.workflow order by i.workflow limit 1) next
    )
    select workflow from found`,
  parameters: [],
};
