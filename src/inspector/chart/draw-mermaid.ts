/** A chart that was read, as a Mermaid diagram. */
import type { ChartState, ReadChart } from "./read-chart.ts";

/**
 * A `stateDiagram-v2`: states with what they do, transitions with event, guard and effects. An answer of every state is a
 * note beside the first of them.
 */
export function mermaidText({ name, root, transitions }: ReadChart): string {
  const id = (state: string): string => nameOf(state, root.id);
  const edges = (from: ChartState, indent: string): string[] =>
    transitions
      .filter((transition) => transition.from === from.id)
      .map(({ to, label }) => `${indent}${id(from.id)} --> ${id(to)}: ${plain(label)}`);
  const drawn = (state: ChartState, indent: string): string[] => {
    const title = [state.name, ...state.notes].join(" | ").replaceAll('"', "'");
    const box = `${indent}state "${title}" as ${id(state.id)}`;
    const lines =
      state.states.length === 0 ? [box] : [`${box} {`, ...within(state, `${indent}  `), `${indent}}`];
    const end = state.kind === "final" ? [`${indent}${id(state.id)} --> [*]`] : [];
    return [...lines, ...edges(state, indent), ...end];
  };
  const within = (state: ChartState, indent: string): string[] => [
    ...(state.initial === null ? [] : [`${indent}[*] --> ${id(state.initial)}`]),
    ...state.states.flatMap((each, index) => [
      // Regions of a parallel state stand side by side. Mermaid has no such line outside of a state.
      ...(state.kind === "parallel" && state !== root && index > 0 ? [`${indent}--`] : []),
      ...drawn(each, indent),
    ]),
  ];
  return [`%% ${name}`, "stateDiagram-v2", ...within(root, "  "), ...everywhere(root, transitions)].join(
    "\n",
  );
}

function everywhere(root: ChartState, transitions: ReadChart["transitions"]): string[] {
  const beside = nameOf(root.states[0]?.id ?? root.id, root.id);
  const ways = transitions
    .filter(({ from }) => from === root.id)
    .map(({ to, label }) => `on ${label} → ${nameOf(to, root.id)}`);
  return [...root.notes, ...ways].map((note) => `  note right of ${beside}: in any state ${plain(note)}`);
}

// Mermaid ends a label at a colon.
function plain(label: string): string {
  return label.replaceAll(":", " ");
}

// Mermaid reads dots and dashes in names as its own signs.
function nameOf(id: string, root: string): string {
  return id === root ? "chart" : id.slice(root.length + 1).replaceAll(/[^A-Za-z0-9_]/g, "_");
}
