/** Renders an operation as HTML: parameters, body, and answers with examples. */
import { html, type Html } from "../../inspector/html.ts";
import { inline, paragraphs } from "./prose.ts";
import { typeWords } from "./show-schema.ts";
import {
  referredName,
  type ShownContent,
  type ShownDocument,
  type ShownOperation,
  type ShownParameter,
  type ShownResponse,
} from "./shown-document.ts";

type Components = ShownDocument["components"];

/** `title` is the method and the path, or the event. */
export function showOperation(title: string, operation: ShownOperation, components: Components): Html {
  const { operationId, summary, description, parameters = [], requestBody } = operation;
  const answers = Object.entries(operation.responses).map(([status, response]) =>
    showResponse(status, resolvedResponse(response, components)),
  );
  return html`<section id="${operationId}">
    <h3><code>${title}</code></h3>
    <p><b>${inline(summary)}</b></p>
    ${paragraphs(description)} ${access(operation)}
    ${showParameters(parameters.map((parameter) => resolvedParameter(parameter, components)))}
    ${
      requestBody === undefined
        ? null
        : html`<h4>Body</h4>
            ${showContent(requestBody.content)}`
    }
    <h4>Answers</h4>
    ${answers}
  </section>`;
}

function access(operation: ShownOperation): Html | null {
  const { "x-scope": scope, "x-limit": limit } = operation;
  if (scope === undefined || limit === undefined) return null;
  const key = scope === "none" ? html`No key` : html`Scope <code>${scope}</code>`;
  return html`<p class="access">${key}, limit <code>${limit}</code></p>`;
}

function showParameters(parameters: readonly ShownParameter[]): Html | null {
  if (parameters.length === 0) return null;
  const rows = parameters.map(
    (parameter) =>
      html`<tr>
        <td><code>${parameter.name}</code></td>
        <td>${parameter.in}${parameter.required ? null : html` <small>optional</small>`}</td>
        <td>${typeWords(parameter.schema)}. ${inline(parameter.description ?? "")}</td>
      </tr>`,
  );
  return html`<h4>Parameters</h4>
    <table>
      <tbody>
        ${rows}
      </tbody>
    </table>`;
}

function showResponse(status: string, { description, content = {} }: ShownResponse): Html {
  return html`<details>
    <summary><b>${status}</b></summary>
    ${paragraphs(description)} ${showContent(content)}
  </details>`;
}

function showContent(content: ShownContent): readonly Html[] {
  return Object.entries(content).map(([mediaType, { schema, examples = {} }]) => {
    const shown = Object.entries(examples).map(
      ([name, { value }]) =>
        html`<figure>
          <figcaption>${name}</figcaption>
          <pre>${JSON.stringify(value, null, 2)}</pre>
        </figure>`,
    );
    return html`<p><small>${mediaType}</small> ${typeWords(schema)}</p>
      ${shown}`;
  });
}

function resolvedParameter(parameter: ShownParameter, { parameters }: Components): ShownParameter {
  return parameter.$ref === undefined ? parameter : (parameters[referredName(parameter.$ref)] ?? parameter);
}

function resolvedResponse(response: ShownResponse, { responses }: Components): ShownResponse {
  return response.$ref === undefined ? response : (responses[referredName(response.$ref)] ?? response);
}
