/** Finds where a source could be wrong in a way that a tired person makes: one small change of one expression each. */
import ts from "typescript";

/** A change of one expression, not yet made. */
export interface Place {
  /** From the project's root. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** The expression as it is, on one line. */
  readonly text: string;
  /** What was changed, as the end of a sentence. */
  readonly change: string;
  /** From 0: how many like it stand before it in the file. */
  readonly occurrence: number;
}

/** What becomes of an expression, or of a part of it. */
interface Change {
  readonly range?: ts.TextRange;
  readonly replacement: string;
  readonly change: string;
}

type Add = (node: ts.Node, change: Change) => void;

const TURNED: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
};
const SWAPPED: Readonly<Record<string, string>> = { every: "some", some: "every" };

const LONGEST_SHOWN = 70;

/** Every place of a source, in its order. */
export function placesIn(file: string, source: string): readonly Place[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const places: Place[] = [];
  const add: Add = (node, { range = rangeOf(node), replacement, change }) => {
    const line = tree.getLineAndCharacterOfPosition(range.pos).line + 1;
    const text = onOneLine(node);
    const occurrence = places.filter((each) => each.text === text && each.change === change).length;
    places.push({ file, line, start: range.pos, end: range.end, replacement, text, change, occurrence });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isBinaryExpression(node)) inBinary(node, add);
    else if (ts.isArrayLiteralExpression(node)) inArray(node, add);
    else if (ts.isAwaitExpression(node)) {
      add(node, { replacement: node.expression.getText(), change: `${shown(node)} is not awaited` });
    } else if (ts.isPropertyAccessExpression(node) && ts.isCallExpression(node.parent)) {
      const swapped = Object.hasOwn(SWAPPED, node.name.text) ? SWAPPED[node.name.text] : undefined;
      if (swapped !== undefined) {
        const change = `${shown(node)} asks for ${swapped}`;
        add(node, { range: rangeOf(node.name), replacement: swapped, change });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return places;
}

function inBinary(node: ts.BinaryExpression, add: Add): void {
  const { left, right, operatorToken } = node;
  const operator = operatorToken.getText();
  const turned = TURNED[operator];
  if (turned !== undefined) {
    const change = `${shown(node)} compares by ${turned}`;
    add(node, { range: rangeOf(operatorToken), replacement: turned, change });
  }
  if (operator !== "&&" && operator !== "||") return;
  add(node, { replacement: left.getText(), change: `${shown(right)} is left out of ${shown(node)}` });
  add(node, { replacement: right.getText(), change: `${shown(left)} is left out of ${shown(node)}` });
}

function inArray({ elements }: ts.ArrayLiteralExpression, add: Add): void {
  elements.forEach((element, index) => {
    const next = elements[index + 1];
    // The comma behind the element goes, too.
    const end = next === undefined ? element.end : next.getStart();
    const range = { pos: element.getStart(), end };
    add(element, { range, replacement: "", change: `${shown(element)} is left out of its list` });
  });
}

const rangeOf = (node: ts.Node): ts.TextRange => ({ pos: node.getStart(), end: node.end });

const onOneLine = (node: ts.Node): string => node.getText().replaceAll(/\s+/g, " ");

/** Not too long, either. */
function shown(node: ts.Node): string {
  const text = onOneLine(node);
  return `\`${text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text}\``;
}
