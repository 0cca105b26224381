/** A viewer on this machine, who reads the pages of an inspector and acts. */
import type { HttpHandler } from "../../src/index.ts";

export const ORIGIN = "http://127.0.0.1:3210";
export const AT = `${ORIGIN}/_inspector`;
/** Headers of a form of the inspector's own page. */
export const FORM = { origin: ORIGIN, "content-type": "application/x-www-form-urlencoded" };

type Fields = Readonly<Record<string, string>>;

/** A page without its marks, in single spaces. */
export const inWords = (page: string): string =>
  page
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .replaceAll("&quot;", '"');

/** What a viewer may ask of an inspector, by paths below its list. */
interface Viewer {
  get(path?: string, init?: RequestInit): Promise<Response>;
  html(path?: string): Promise<string>;
  text(path?: string): Promise<string>;
  /** Sends the form of an act. */
  act(fields: Fields, headers?: Fields): Promise<Response>;
}

export function viewerOf({ fetch }: Pick<HttpHandler, "fetch">): Viewer {
  const get = (path = "", init: RequestInit = {}) => fetch(new Request(AT + path, init));
  const html = async (path = "") => (await get(path)).text();
  return {
    get,
    html,
    text: async (path) => inWords(await html(path)),
    act(fields, headers = FORM) {
      const body = new URLSearchParams({ actor: "ada", reason: "a test", ...fields }).toString();
      return get("/act", { method: "POST", headers, body });
    },
  };
}
