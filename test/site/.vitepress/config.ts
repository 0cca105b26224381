/** The pages of the repository as a site: the same files, a sidebar of three doors, a search that asks no server. */
import { join } from "node:path";
import { defineConfig } from "vitepress";
import type { Plugin } from "vite";
import { writeTexts } from "../llms-text.ts";
import { pictureFences } from "../picture-fences.ts";
import { DOORS, PAGES_OF_SITE } from "../doors.ts";
import { siteLinks } from "../site-links.ts";

const SITE = join(import.meta.dirname, "..");

/** Finds Vue for pages, which stand above this folder. */
const vueOfTheSite: Plugin = {
  name: "vue-of-the-site",
  enforce: "pre",
  resolveId(source, importer, options) {
    if (!/^vue($|\/)/.test(source)) return null;
    // The bundle that renders the pages runs in this folder.
    if (options.ssr === true) return { id: source, external: true };
    if (importer === undefined || importer.startsWith(SITE)) return null;
    return this.resolve(source, join(SITE, "package.json"), { ...options, skipSelf: true });
  },
};

export default defineConfig({
  title: "paystate",
  description: "Durable XState charts, and a Solana payment API to embed in your own server.",
  lang: "en",
  srcDir: "../..",
  outDir: "./dist",
  cacheDir: "./node_modules/.cache/vitepress",
  srcExclude: ["**/node_modules/**", "**/dist/**", "**/.paystate/**", "**/*.md.template"],
  rewrites: (page) => page.replace(/README\.md$/, "index.md"),
  cleanUrls: false,
  lastUpdated: false,
  // A test checks every link of every page; those to sources are text here.
  ignoreDeadLinks: true,
  // The pages stand above this folder, and find its packages here.
  vite: { plugins: [vueOfTheSite] },
  markdown: {
    config(md) {
      md.use(siteLinks).use(pictureFences);
    },
  },
  themeConfig: {
    nav: DOORS.map(({ text, items }) => ({ text, link: items[0]?.link ?? "/" })),
    sidebar: DOORS.map(({ text, items }) => ({ text, collapsed: false, items: [...items] })),
    outline: { level: [2, 3], label: "On this page" },
    search: { provider: "local" },
    docFooter: { prev: "Before", next: "Next" },
  },
  buildEnd: ({ outDir }) => writeTexts(outDir, PAGES_OF_SITE),
});
