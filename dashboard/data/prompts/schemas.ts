import type { PromptVersion } from '../../../src/client/index.ts';
import { jsonProblem } from '../text/json-problem.ts';

/** JSON schemas of a version as texts in a form; empty for none. The server checks that they are valid schemas. */

export function schemaText(format: PromptVersion['responseFormat'] | undefined): string {
  return format ? JSON.stringify(format.schema, null, 2) : '';
}

export function schemasText(schemas: PromptVersion['variableSchemas'] | undefined): string {
  const hasAny = schemas && Object.keys(schemas).length > 0;
  return hasAny ? JSON.stringify(schemas, null, 2) : '';
}

/** What is wrong with the text of one schema; null if it may be one. */
export function schemaProblem(text: string): string | null {
  if (text.trim() === '') return null;
  return jsonProblem(text)?.message ?? (isObject(JSON.parse(text)) ? null : notObject);
}

/** What is wrong with the text of `{name: schema}`, of which these names may be used. */
export function schemasProblem(text: string, names: readonly string[]): string | null {
  const problem = schemaProblem(text);
  if (problem !== null || text.trim() === '') return problem;
  const schemas = JSON.parse(text) as Record<string, unknown>;
  for (const [name, schema] of Object.entries(schemas)) {
    if (!names.includes(name)) return `The templates do not use {{${name}}}.`;
    if (!isObject(schema) && typeof schema !== 'boolean') return `"${name}" needs a JSON schema.`;
  }
  return null;
}

const notObject = 'Must be a JSON object.';

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @param text without a `schemaProblem` */
export function readResponseFormat(text: string): PromptVersion['responseFormat'] {
  return text.trim() === '' ? null : { type: 'json', schema: JSON.parse(text) };
}

/** @param text without a `schemasProblem` */
export function readSchemas(text: string): PromptVersion['variableSchemas'] {
  return text.trim() === '' ? {} : JSON.parse(text);
}
