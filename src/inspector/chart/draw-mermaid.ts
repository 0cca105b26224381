/** A chart that was read, as a Mermaid diagram. */
import type { ChartState, ReadChart } from "./read-chart.ts";

/** A `stateDiagram-v2`: states with what they do, transitions with event, guard and effects. */
export function mermaidText({ name, root, transitions }: ReadChart): string {
  const states = (state: ChartState, indent: string): string[] => {
    const id = nameOf(state.id, root.id);
    const inner = state.states.flatMap((child) => states(child, `${indent}  `));
    const first = state.initial === null ? [] : [`${indent}  [*] --> ${nameOf(state.initial, root.id)}`];
    if (state.states.length > 0) {
      return [`${indent}state "${state.name}" as ${id} {`, ...first, ...inner, `${indent}}`];
    }
    const title = [state.name, ...state.notes].join(" | ").replaceAll('"', "'");
    return [
      `${indent}state "${title}" as ${id}`,
      ...(state.kind === "final" ? [`${indent}${id} --> [*]`] : []),
    ];
  };
  const begin = root.initial === null ? [] : [`  [*] --> ${nameOf(root.initial, root.id)}`];
  return [
    `%% ${name}`,
    "stateDiagram-v2",
    ...begin,
    ...root.states.flatMap((state) => states(state, "  ")),
    ...transitions.map(
      ({ from, to, label }) =>
        `  ${nameOf(from, root.id)} --> ${nameOf(to, root.id)}: ${label.replaceAll(":", " ")}`,
    ),
  ].join("\n");
}

// Mermaid reads dots and dashes in names as its own signs.
function nameOf(id: string, root: string): string {
  return id === root ? "chart" : id.slice(root.length + 1).replaceAll(/[^A-Za-z0-9_]/g, "_");
}
