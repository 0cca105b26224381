/** State charts as pictures, as Mermaid diagrams and as data, drawn from the very machines that run. */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition as AnyTransition } from "xstate";
import {
  depositAddress,
  payment,
  privateTransfer,
  walletTransfer,
  webhookDelivery,
} from "../../machines/index.ts";
import { standaloneSvg } from "../inspector/chart/draw-svg.ts";
import { layOutChart } from "../inspector/chart/lay-out-chart.ts";
import { readChart } from "../inspector/chart/read-chart.ts";
import { UsageError } from "./usage-error.ts";

/** What `--format` takes. */
export const MACHINE_FORMATS: readonly string[] = ["mermaid", "svg", "json"];

const MACHINES: ReadonlyMap<string, AnyStateMachine> = new Map<string, AnyStateMachine>([
  ["wallet-transfer", walletTransfer],
  ["private-transfer", privateTransfer],
  ["deposit-address", depositAddress],
  ["payment", payment],
  ["webhook-delivery", webhookDelivery],
]);

/**
 * The named charts, those of modules of the host's, or all five; one chart only where the format is `svg`, since a file holds one picture. Throws
 * `UsageError` for a name that is none, and `NoLayout` where a picture is asked for and elkjs is not installed.
 */
export async function drawMachines(names: readonly string[], format: string): Promise<string> {
  const named = await Promise.all((names.length === 0 ? [...MACHINES.keys()] : names).map(machinesNamed));
  const machines = named.flat();
  const [machine, another] = machines;
  switch (format) {
    case "svg":
      if (machine === undefined || another !== undefined) {
        throw new UsageError(
          names.length === 1
            ? `--format svg draws one machine, and ${names[0]} exports ${machines.length}`
            : "--format svg draws one machine: name it, such as machines wallet-transfer",
        );
      }
      return standaloneSvg(await layOutChart(readChart(machine)));
    case "json":
      return JSON.stringify(machines.map(readChart), null, 2);
    default:
      return machines.map(drawMachine).join("\n\n");
  }
}

/** One of the five by its name, or those of a module by its path, which has a dot or a slash. */
async function machinesNamed(name: string): Promise<readonly AnyStateMachine[]> {
  const machine = MACHINES.get(name);
  if (machine !== undefined) return [machine];
  if (/[./\\]/.test(name)) return (await import("./charts-file.ts")).machinesIn(name);
  throw new UsageError(`there is no machine "${name}": expected ${[...MACHINES.keys()].join(" or ")}`);
}

/** One chart as a Mermaid `stateDiagram-v2`: states with their entry effects, transitions with event, guard and effects. */
function drawMachine(machine: AnyStateMachine): string {
  const { root } = machine;
  // What every state answers to is drawn once, as a note beside the first of them.
  const [first] = Object.values(root.states);
  const everywhere = transitionsOf(root).map(
    (transition) => `  note right of ${stateName(first ?? root)}: in any state ${label(transition)}`,
  );
  return [`%% ${machine.id}`, "stateDiagram-v2", ...drawStates(root, "  "), ...everywhere].join("\n");
}

function drawStates(parent: AnyStateNode, indent: string): string[] {
  const initial = parent.initial.target?.map((target) => `${indent}[*] --> ${stateName(target)}`) ?? [];
  return [...initial, ...Object.values(parent.states).flatMap((state) => drawState(state, indent))];
}

function drawState(state: AnyStateNode, indent: string): string[] {
  const name = stateName(state);
  const edges = transitionsOf(state).map((transition) => {
    const targets = transition.target ?? [state];
    return `${indent}${name} --> ${targets.map(stateName).join(", ")}: ${label(transition)}`;
  });
  if (Object.keys(state.states).length > 0) {
    return [`${indent}state ${name} {`, ...drawStates(state, `${indent}  `), `${indent}}`, ...edges];
  }
  const title = [state.key, ...effectNames(state.entry)].join(" / ");
  return [
    `${indent}${name}: ${title}`,
    ...edges,
    ...(state.type === "final" ? [`${indent}${name} --> [*]`] : []),
  ];
}

function transitionsOf(state: AnyStateNode): AnyTransition[] {
  return [...[...state.transitions.values()].flat(), ...(state.always ?? [])];
}

function label({ guard, actions, ...transition }: AnyTransition): string {
  const eventType = String(transition.eventType);
  const event = eventType === "" ? "always" : eventType.replace(/^xstate\.after\.([^.]+)\..*$/, "after $1");
  const guardName = typeof guard === "string" ? guard : (guard as { type?: string } | undefined)?.type;
  const effects = effectNames(actions).map((effect) => `/ ${effect}`);
  return [event, ...(guardName === undefined ? [] : [`[${guardName}]`]), ...effects].join(" ");
}

/** The effects among some actions, with the parameters that are written in the chart. */
function effectNames(actions: readonly unknown[]): string[] {
  return actions.flatMap((action) => {
    if (typeof action === "string") return [action];
    const { type, params } = action as { type?: string; params?: unknown };
    if (type === undefined || type.startsWith("xstate.")) return [];
    const fixed = typeof params === "object" && params !== null ? Object.values(params).join(", ") : "";
    return [fixed === "" ? type : `${type}(${fixed})`];
  });
}

// Mermaid reads dots and dashes in names as its own signs.
function stateName({ path, key }: AnyStateNode): string {
  return (path.length === 0 ? [key] : path).join("_").replace(/[^A-Za-z0-9_]/g, "_");
}
