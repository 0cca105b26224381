/** The modules that show rows of their own. A module has one line here, which goes with the module. */
import type { ModuleView } from "./module-view.ts";
import { privateView } from "./private-view.ts";
import { webhooksView } from "./webhooks-view.ts";

// A line for each module, which goes with the module.
// prettier-ignore
const MODULE_VIEWS: readonly ModuleView[] = [
  privateView,
  webhooksView,
];

/** The view of the first module that has one; null where none does. */
export async function firstShown<Shown>(
  show: (module: ModuleView) => Promise<Shown | null>,
): Promise<Shown | null> {
  for (const module of MODULE_VIEWS) {
    const shown = await show(module);
    if (shown !== null) return shown;
  }
  return null;
}

/** The merged views of all modules. */
export async function allShown<Shown>(
  show: (module: ModuleView) => Promise<readonly Shown[]>,
): Promise<readonly Shown[]> {
  return (await Promise.all(MODULE_VIEWS.map(show))).flat();
}
