/** Files to take away: a chart as SVG or JSON, and an instance as a bundle. */
import { plain, typed } from "./answers.ts";
import { bundleText } from "./bundle/bundle.ts";
import { exportBundle, type BundleParts } from "./bundle/export-bundle.ts";
import { standaloneSvg } from "./chart/draw-svg.ts";
import { mermaidText } from "./chart/draw-mermaid.ts";

/** The file that was asked for; null where the path is none of a file. */
export async function exported(
  sources: BundleParts,
  path: string,
  query: URLSearchParams,
): Promise<Response | null> {
  if (path === "/bundle") return bundle(sources, query.get("id") ?? "");
  return path === "/chart-file" ? chartFile(sources, query) : null;
}

async function bundle(sources: BundleParts, id: string): Promise<Response> {
  const content = await exportBundle(sources, id);
  if (content === null) return plain(404, "No instance has this id.");
  return typed(bundleText(content), "application/json; charset=utf-8", attachment(`${id}.paystate.json`));
}

async function chartFile({ charts }: BundleParts, query: URLSearchParams): Promise<Response> {
  const known = charts.get(query.get("key") ?? "");
  if (known === undefined) return plain(404, "No such chart is registered in this process.");
  const { key, chart } = known;
  switch (query.get("as")) {
    case "svg": {
      const layout = await known.layout();
      return typeof layout === "string"
        ? plain(404, layout)
        : typed(standaloneSvg(layout), "image/svg+xml", attachment(`${key}.svg`));
    }
    case "mermaid":
      return typed(`${mermaidText(chart)}\n`, "text/plain; charset=utf-8", attachment(`${key}.mmd`));
    default:
      return typed(
        `${JSON.stringify(chart, null, 2)}\n`,
        "application/json; charset=utf-8",
        attachment(`${key}.json`),
      );
  }
}

/** A file that is saved and never shown as a page of this site. */
function attachment(name: string): Readonly<Record<string, string>> {
  const safe = name.replaceAll(/[^A-Za-z0-9._@-]/g, "_").slice(-100);
  return { "content-disposition": `attachment; filename="${safe}"` };
}
