/** Acts of viewers: a page that says what will happen, and the request that carries it out. */
import { ActRefused, type Acting, type GivenAct } from "../engine/inspected.ts";
import { parseUrl } from "../parse-url.ts";
import { absent, present, type FoundPage } from "./found-page.ts";
import { confirmPage, outcomePage } from "./pages/act-pages.ts";
import type { Links } from "./pages/page.ts";

const READ_ONLY = "This inspector only shows. Give inspector: { acts: true } to let its viewers act.";
const MAX_BODY = 65_536;

/** Whether a page of this very site has made the request. A browser says so; a program has to send Origin. */
export function isOfThisSite({ headers, url }: Request): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin") return false;
  const origin = headers.get("origin");
  return origin !== null && parseUrl(origin)?.host === new URL(url).host;
}

export class Acts {
  readonly #acting: Acting | null;

  /** Null where viewers only look. */
  constructor(acting: Acting | null) {
    this.#acting = acting;
  }

  /** The page before an act. */
  async confirm(links: Links, query: URLSearchParams): Promise<FoundPage> {
    if (this.#acting === null) return { ...absent(links, READ_ONLY), status: 403 };
    const id = query.get("id") ?? "";
    const offered = (await this.#acting.offers(id)).find(({ key }) => key === query.get("do"));
    if (offered === undefined) return absent(links, "This cannot be done now: the instance has moved on.");
    return present(confirmPage(links, { id, offered, event: query.get("event") ?? "" }));
  }

  /** Carries an act out and says what came of it. */
  async perform(links: Links, request: Request): Promise<FoundPage> {
    if (this.#acting === null) return { ...absent(links, READ_ONLY), status: 403 };
    const form = new URLSearchParams(await bodyOf(request));
    const id = form.get("id") ?? "";
    try {
      const said = await this.#acting.perform(id, form.get("do") ?? "", givenIn(form));
      return present(outcomePage(links, { id, said, isDone: true }));
    } catch (error) {
      if (!(error instanceof ActRefused)) throw error;
      return { status: 409, parts: outcomePage(links, { id, said: error.message, isDone: false }) };
    }
  }
}

async function bodyOf(request: Request): Promise<string> {
  const text = await request.text().catch(() => "");
  return text.length > MAX_BODY ? "" : text;
}

function givenIn(form: URLSearchParams): GivenAct {
  const [actor, reason] = ["actor", "reason"].map((name) => form.get(name)?.trim() ?? "");
  if (actor === undefined || actor === "") {
    throw new ActRefused("Expected your name: it stands in the record of the act.");
  }
  if (reason === undefined || reason === "") {
    throw new ActRefused("Expected a reason: it stands in the record of the act.");
  }
  const event = form.get("event");
  return { actor, reason, ...(event === null ? {} : { event }) };
}
