/** The part of an OpenAPI document that the page shows. */

/** A schema, or a reference to one. */
export interface ShownSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ShownSchema>>;
  readonly required?: readonly string[];
  readonly items?: ShownSchema;
  readonly anyOf?: readonly ShownSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** A parameter, or a reference to one. */
export interface ShownParameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: ShownSchema;
}

/** A body by its media type. */
export type ShownContent = Readonly<
  Record<
    string,
    {
      readonly schema: ShownSchema;
      readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
    }
  >
>;

/** An answer, or a reference to one. */
export interface ShownResponse {
  readonly $ref?: string;
  readonly description: string;
  readonly content?: ShownContent;
}

/** An operation. */
export interface ShownOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly "x-scope"?: string;
  readonly "x-limit"?: string;
  readonly parameters?: readonly ShownParameter[];
  readonly requestBody?: { readonly content: ShownContent };
  readonly responses: Readonly<Record<string, ShownResponse>>;
}

/** Operations by path, or by event, and then by method. */
type ShownOperations = Readonly<Record<string, Readonly<Record<string, ShownOperation>>>>;

/** The document. */
export interface ShownDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: ShownOperations;
  readonly webhooks: ShownOperations;
  readonly components: {
    readonly parameters: Readonly<Record<string, ShownParameter>>;
    readonly responses: Readonly<Record<string, ShownResponse>>;
    readonly schemas: Readonly<Record<string, ShownSchema>>;
  };
}

/** The last word of a reference: what the component is called. */
export function referredName(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}
