/** Finds a field that stands twice in one JSON object: parsers keep the last one and say nothing. */

/** An object or a list that the scan is inside of. */
interface Level {
  /** The names so far; null in a list. */
  readonly names: Set<string> | null;
  /** The name of the field, or the index of the element, that is being read. */
  at: string | number;
  /** Whether the next text is a name. */
  isName: boolean;
}

/**
 * The path of the first such field, such as `recipients.0.amount`; null when there is none. Names are compared as they
 * are meant, so that an escaped letter hides nothing. `json` must be text that JSON.parse takes. Reads it once.
 */
export function duplicateField(json: string): string | null {
  const levels: Level[] = [];
  for (let index = 0; index < json.length; index++) {
    const level = levels.at(-1);
    switch (json[index]) {
      case '"': {
        const end = endOfText(json, index);
        if (level?.isName === true && level.names !== null) {
          const name = JSON.parse(json.slice(index, end + 1)) as string;
          level.at = name;
          level.isName = false;
          if (level.names.has(name)) return levels.map(({ at }) => at).join(".");
          level.names.add(name);
        }
        index = end;
        break;
      }
      case "{":
        levels.push({ names: new Set(), at: "", isName: true });
        break;
      case "[":
        levels.push({ names: null, at: 0, isName: false });
        break;
      case "}":
      case "]":
        levels.pop();
        break;
      case ",":
        if (level !== undefined) goOn(level);
        break;
      default:
    }
  }
  return null;
}

function goOn(level: Level): void {
  if (typeof level.at === "number") level.at += 1;
  level.isName = level.names !== null;
}

/** The index of the quote that ends the text which begins at `start`. */
function endOfText(json: string, start: number): number {
  let index = start + 1;
  while (index < json.length && json[index] !== '"') index += json[index] === "\\" ? 2 : 1;
  return index;
}
