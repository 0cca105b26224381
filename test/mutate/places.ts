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
  /** What was changed, as the end of a sentence. */
  readonly change: string;
}

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
  const add = (range: ts.TextRange, replacement: string, change: string): void => {
    const line = tree.getLineAndCharacterOfPosition(range.pos).line + 1;
    places.push({ file, line, start: range.pos, end: range.end, replacement, change });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isBinaryExpression(node)) inBinary(node, add);
    else if (ts.isArrayLiteralExpression(node)) inArray(node, add);
    else if (ts.isAwaitExpression(node)) {
      add(rangeOf(node), node.expression.getText(), `${shown(node)} is not awaited`);
    } else if (ts.isPropertyAccessExpression(node) && ts.isCallExpression(node.parent)) {
      const swapped = Object.hasOwn(SWAPPED, node.name.text) ? SWAPPED[node.name.text] : undefined;
      if (swapped !== undefined) add(rangeOf(node.name), swapped, `${shown(node)} asks for ${swapped}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return places;
}

type Add = (range: ts.TextRange, replacement: string, change: string) => void;

function inBinary(node: ts.BinaryExpression, add: Add): void {
  const { left, right, operatorToken } = node;
  const operator = operatorToken.getText();
  const turned = TURNED[operator];
  if (turned !== undefined) add(rangeOf(operatorToken), turned, `${shown(node)} compares by ${turned}`);
  if (operator !== "&&" && operator !== "||") return;
  add(rangeOf(node), left.getText(), `${shown(right)} is left out of ${shown(node)}`);
  add(rangeOf(node), right.getText(), `${shown(left)} is left out of ${shown(node)}`);
}

function inArray({ elements }: ts.ArrayLiteralExpression, add: Add): void {
  elements.forEach((element, index) => {
    const next = elements[index + 1];
    // The comma behind the element goes, too.
    const end = next === undefined ? element.end : next.getStart();
    add({ pos: element.getStart(), end }, "", `${shown(element)} is left out of its list`);
  });
}

const rangeOf = (node: ts.Node): ts.TextRange => ({ pos: node.getStart(), end: node.end });

/** On one line, and not too long. */
function shown(node: ts.Node): string {
  const text = node.getText().replaceAll(/\s+/g, " ");
  return `\`${text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text}\``;
}
