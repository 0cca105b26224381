/**
 * The money of an order as a small picture: income on the left, outgoings on the right, and their sum, which is zero.
 */
import { round } from "../../chart/draw-svg.ts";
import { Html, escaped, html } from "../../html.ts";
import { amountWords, sumOf, type MoneyEntry, type MoneyTally } from "../../payments/money.ts";
import type { MoneyReport } from "../../payments/read-money.ts";

/** Above this number of lines the picture shows sums; the table below still lists the first lines. */
const MAX_BANDS = 8;

export function moneySection({ note, flows, paid, recipients }: MoneyReport): Html {
  const progress =
    recipients > 1
      ? html`<p>
          ${paid} of ${recipients} recipients paid
          <progress max="${recipients}" value="${paid}" aria-label="Recipients paid"></progress>
        </p>`
      : null;
  return html`<p>${note}</p>
    ${progress} ${flows.map(flowPicture)}`;
}

function flowPicture(flow: MoneyTally): Html {
  const into = gathered(flow.into);
  const outOf = gathered(flow.outOf);
  const total = sumOf(flow.into);
  const rest = total - sumOf(flow.outOf);
  return html`<figure class="money">
    <div class="wide">${new Html(picture({ ...flow, into, outOf }, total))}</div>
    <ul class="narrow">
      ${into.map((line) => html`<li>← ${words(line, flow)}</li>`)}
      ${outOf.map((line) => html`<li>→ ${words(line, flow)}</li>`)}
    </ul>
    <figcaption>
      in ${amountWords(total, flow)} − out and held ${amountWords(total - rest, flow)} =
      <b>${rest === 0n ? "0" : `${rest}`}</b>
    </figcaption>
  </figure>`;
}

/** The largest lines, and the sum of the others. */
function gathered(lines: readonly MoneyEntry[]): MoneyEntry[] {
  if (lines.length <= MAX_BANDS) return [...lines];
  const shown = lines.slice(0, MAX_BANDS - 1);
  const others = lines.slice(MAX_BANDS - 1);
  return [...shown, { is: `${others.length} more`, amount: sumOf(others) }];
}

const WIDTH = 680;
const BAR_LEFT = 250;
const BAR_RIGHT = 430;
const ROW = 34;

function picture(flow: MoneyTally, total: bigint): string {
  const rows = Math.max(flow.into.length, flow.outOf.length, 1);
  const height = rows * ROW + 8;
  const label = `${flow.symbol}: ${flow.into.map((line) => words(line, flow)).join(", ")} in; ${flow.outOf.map((line) => words(line, flow)).join(", ")} out`;
  return [
    `<svg class="flow" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(label)}">`,
    ...bands(flow.into, total, { height, x: BAR_LEFT, end: 0, flow }),
    ...bands(flow.outOf, total, { height, x: BAR_RIGHT, end: WIDTH, flow }),
    `<rect class="vault" x="${BAR_LEFT}" y="2" width="${BAR_RIGHT - BAR_LEFT}" height="${height - 4}" rx="6"/>`,
    `<text class="symbol" x="${(BAR_LEFT + BAR_RIGHT) / 2}" y="${height / 2 + 4}">${escaped(flow.decimals === 0 ? "base units" : flow.symbol)}</text>`,
    "</svg>",
  ].join("");
}

interface Side {
  readonly height: number;
  /** Where the bands begin at the bar, and where they end. */
  readonly x: number;
  readonly end: number;
  readonly flow: MoneyTally;
}

/** A band for each line, as wide at the bar as its share. */
function bands(lines: readonly MoneyEntry[], total: bigint, { height, x, end, flow }: Side): string[] {
  const inner = height - 8;
  let y = 4;
  return lines.map((line, index) => {
    const share = total === 0n ? 0 : Number((line.amount * 10_000n) / total) / 10_000;
    const thick = Math.max(1.5, share * inner);
    const at = 4 + index * ROW + ROW / 2;
    const wide = Math.min(thick, ROW - 8) / 2;
    const middle = (x + end) / 2;
    const isLeft = end === 0;
    const tip = isLeft ? x - 40 : x + 40;
    const path = `M${x} ${round(y)}C${middle < x ? tip + 20 : tip - 20} ${round(y)} ${tip} ${round(at - wide)} ${tip} ${round(at - wide)}L${tip} ${round(at + wide)}C${tip} ${round(at + wide)} ${middle < x ? tip + 20 : tip - 20} ${round(y + thick)} ${x} ${round(y + thick)}Z`;
    y += share * inner;
    const anchor = isLeft ? "end" : "start";
    const textAt = isLeft ? tip - 6 : tip + 6;
    return `<path class="band ${line.is === "held" ? "held" : ""}" d="${path}"/><text x="${textAt}" y="${round(at + 4)}" text-anchor="${anchor}">${escaped(words(line, flow))}</text>`;
  });
}

function words({ is, amount }: MoneyEntry, flow: MoneyTally): string {
  return `${is} ${flow.decimals === 0 ? amount.toString() : amountWords(amount, flow)}`;
}
