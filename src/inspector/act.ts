/** Acts of viewers: a page announces the act, and a request carries the act out. */
import { actKey, ActRefused, type ViewerActs, type GivenAct } from "../engine/inspected-engine.ts";
import { listedIn, listNamed } from "../engine/list-name.ts";
import { parseUrl } from "../core/parse-url.ts";
import { systemRandom } from "../core/runtime.ts";
import { absent, present, type FoundPage } from "./found-page.ts";
import { confirmPage, outcomePage } from "./pages/act-pages.ts";
import type { Links } from "./pages/page.ts";
import { readForm, type FormRequest } from "./read-form.ts";
import type { SectionParts } from "./section.ts";
import { SECTIONS } from "./sections.ts";

const READ_ONLY = "This inspector only shows. Give inspector: { acts: true } to let its viewers act.";

/** Whether a page of this same site has made the request. A browser says so; a program has to send Origin. */
export function isOfThisSite({ headers, url }: Request): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin") return false;
  const origin = headers.get("origin");
  return origin !== null && parseUrl(origin)?.host === new URL(url).host;
}

/** The dependencies of acts. */
export interface ActParts extends SectionParts {
  /** Null where viewers only look. */
  readonly acting: ViewerActs | null;
}

/** The page before an act. */
export async function confirmAct(parts: ActParts, links: Links, query: URLSearchParams): Promise<FoundPage> {
  if (parts.acting === null) return { ...absent(links, READ_ONLY), status: 403 };
  const id = query.get("id") ?? "";
  const offered = (await parts.acting.offers(id)).find((each) => actKey(each) === query.get("do"));
  if (offered === undefined) return absent(links, "This cannot be done now: the instance has moved on.");
  const page = await pageOf(parts, links, id);
  const once = Buffer.from(systemRandom.bytes(16)).toString("hex");
  return present(confirmPage(links, { id, page, offered, once, event: query.get("event") ?? "" }));
}

/** Carries an act out and says what came of it. @throws FormRefused */
export async function performAct(parts: ActParts, links: Links, request: FormRequest): Promise<FoundPage> {
  if (parts.acting === null) return { ...absent(links, READ_ONLY), status: 403 };
  const form = await readForm(request);
  const id = form.get("id") ?? "";
  const page = await pageOf(parts, links, id);
  try {
    const said = await parts.acting.perform(id, form.get("do") ?? "", givenIn(form));
    return present(outcomePage({ id, page, said, isDone: true }));
  } catch (error) {
    if (!(error instanceof ActRefused)) throw error;
    return { status: 409, parts: outcomePage({ id, page, said: error.message, isDone: false }) };
  }
}

/** The page of the acted instance or list, or of what a section shows. */
async function pageOf(parts: ActParts, links: Links, id: string): Promise<string> {
  for (const section of SECTIONS) {
    const address = await section.addressOf(links, id, parts);
    if (address !== null) return address;
  }
  const listed = listNamed(id);
  if (listed !== null) return links.list({ workflow: listed.workflow, ...listedIn(listed) });
  return links.instance(id);
}

/** As a form was given it. */
const ONCE = /^[0-9a-f]{32}$/;

function givenIn(form: URLSearchParams): GivenAct {
  const [actor, reason] = ["actor", "reason"].map((name) => form.get(name)?.trim() ?? "");
  if (actor === undefined || actor === "") {
    throw new ActRefused("Expected your name: it stands in the record of the act.");
  }
  if (reason === undefined || reason === "") {
    throw new ActRefused("Expected a reason: it stands in the record of the act.");
  }
  const [event, once] = [form.get("event"), form.get("once")];
  return {
    actor,
    reason,
    ...(event !== null && { event }),
    ...(once !== null && ONCE.test(once) && { once }),
  };
}
