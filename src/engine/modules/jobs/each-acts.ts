/** Acts of viewers on all instances of a list: send an event, stop, retry, each as a durable job. */
import { RETRY, STOP } from "../../../workflow/chart.ts";
import { givenEvent } from "../../engine-acts.ts";
import type { ModuleActs } from "../../engine-module.ts";
import { ActRefused, type OfferedAct } from "../../inspected-engine.ts";
import { listNamed } from "../../list-name.ts";
import type { AnyWorkflow } from "../../../workflow/workflow.ts";
import type { WorkflowRegistry } from "../../../workflow/workflow-registry.ts";
import type { GivenOrder } from "./each-commands.ts";

/** The subject of the acts. */
const ON = "list";

const SEND: OfferedAct = {
  key: "send",
  on: ON,
  label: "Send an event to all of this list",
  consequence:
    "A job hands the event to each active instance of the list, page by page. One that has left the list when the event comes takes nothing.",
  takesEvent: true,
};

const STOP_ALL: OfferedAct = {
  key: "stop",
  on: ON,
  label: "Stop all of this list",
  consequence:
    "A job ends each active instance of the list as stopped, with its timers, invocations, watches and children. This cannot be undone.",
};

const RETRY_ALL: OfferedAct = {
  key: "retry",
  on: ON,
  label: "Retry what fails in this list",
  consequence: "A job makes the failing tasks and the dead letters of each instance of the list due now.",
};

interface JobActsParts {
  readonly workflows: Pick<WorkflowRegistry, "get">;
  /** Returns the id of the job. `once` names the form: a form that is sent twice begins one job. */
  readonly begin: (order: GivenOrder, once: string | undefined) => Promise<string>;
}

/** The acts on lists whose chart is here, by the names of lists. */
export function jobActs({ workflows, begin }: JobActsParts): ModuleActs {
  const chartOf = (name: string): AnyWorkflow | undefined => {
    const listed = listNamed(name);
    return listed === null ? undefined : workflows.get(listed.workflow);
  };
  return {
    on: ON,
    offers: async (name) => (chartOf(name) === undefined ? [] : [SEND, STOP_ALL, RETRY_ALL]),
    async perform(name, key, { event = "", once }) {
      const [listed, workflow] = [listNamed(name), chartOf(name)];
      if (listed === null || workflow === undefined) throw new ActRefused("The chart of this list is gone.");
      const told = key === STOP_ALL.key ? STOP : key === RETRY_ALL.key ? RETRY : givenEvent(event);
      try {
        return `The job ${await begin({ ...listed, workflow, event: told }, once)} has begun: as an instance of its own it tells how far it is.`;
      } catch (error) {
        // A state or a search field that the chart does not have.
        throw error instanceof TypeError ? new ActRefused(error.message) : error;
      }
    },
  };
}
