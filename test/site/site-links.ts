/** Links between pages as the site has them. */
import type { MarkdownRenderer } from "vitepress";

/** Links to pages follow the names of the site; a link to a source, which the site does not hold, becomes its text. */
export function siteLinks(md: MarkdownRenderer): void {
  md.core.ruler.push("site-links", ({ tokens }) => {
    for (const { children } of tokens) {
      let isText = false;
      for (const token of children ?? []) {
        if (token.type === "link_open") {
          const [path = "", anchor] = (token.attrGet("href") ?? "").split("#");
          isText = !/^[a-z]+:/.test(path) && path !== "" && !path.endsWith(".md");
          const page = path.replace(/README\.md$/, "index.md");
          token.attrSet("href", anchor === undefined ? page : `${page}#${anchor}`);
        }
        if (isText && token.type.startsWith("link_")) {
          token.tag = "span";
          token.attrs = null;
          if (token.type === "link_close") isText = false;
          token.type = token.type === "link_open" ? "span_open" : "span_close";
        }
      }
    }
  });
}
