/** A chart as an indented list of its states: what is shown where nothing computes a layout. */
import type { ChartState, ReadChart } from "./read-chart.ts";

/** A line for each state and transition; those of active states are marked with `*`. */
export function indentedList({ root, transitions }: ReadChart, active: readonly string[] = []): string {
  const lines = (state: ChartState, depth: number): string[] => {
    const indent = "  ".repeat(depth);
    const mark = active.includes(state.id) ? "* " : "- ";
    const kind = state.kind === "atomic" || state.kind === "compound" ? "" : ` (${state.kind})`;
    return [
      `${indent}${mark}${state.name}${kind}`,
      ...state.notes.map((note) => `${indent}    ${note}`),
      ...transitions
        .filter(({ from }) => from === state.id)
        .map(({ to, label }) => `${indent}    ${label} → ${to.slice(root.id.length + 1)}`),
      ...state.states.flatMap((child) => lines(child, depth + 1)),
    ];
  };
  return lines(root, 0).join("\n");
}
