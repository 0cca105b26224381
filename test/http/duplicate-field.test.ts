/** Finding a field that is there twice, in any JSON. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { duplicateField } from "../../src/http/read-contents.ts";

test("JSON that a serialiser has written has no field twice", () => {
  fc.assert(fc.property(fc.json({ maxDepth: 6 }), (json) => duplicateField(json) === null));
});

test("a field that is written a second time, anywhere and in any notation, is found by its path", () => {
  const name = fc.string({ unit: "grapheme", maxLength: 6 });
  const place = fc.array(fc.oneof(name, fc.nat(3)), { maxLength: 5 });
  const escaped = (text: string): string =>
    `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`;
  fc.assert(
    fc.property(place, name, fc.json(), fc.boolean(), (path, field, value, isEscaped) => {
      const again = isEscaped ? escaped(field) : JSON.stringify(field);
      const doubled = `{${JSON.stringify(field)}:${value},${JSON.stringify(`other ${field}`)}:{},${again}:[${value}]}`;
      const json = path.reduceRight<string>(
        (inner, step) =>
          typeof step === "number"
            ? `[${`${value},`.repeat(step)}${inner},${value}]`
            : `{${JSON.stringify(`before ${step}`)}:"\\"{[",${JSON.stringify(step)} : ${inner}}`,
        doubled,
      );
      expect(() => void JSON.parse(json)).not.toThrow();
      expect(duplicateField(json)).toBe([...path, field].join("."));
    }),
  );
});

test("the same name in two objects is no field twice", () => {
  expect(duplicateField('{"a":{"a":[{"a":1},{"a":"a"}]},"b":"a"}')).toBeNull();
});
