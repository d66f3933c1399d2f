import { invalidRequest } from '../failure.ts';
import { members } from '../json.ts';
import { LruCache } from '../lru-cache.ts';
import { findMismatch, type Mismatch, schemaCharsMax } from '../schema/schema-validator.ts';
import type { Variables } from './variables.ts';

/** The schemas that a version declares for the values of its variables: `{name: schema}`. */
export type VariableSchemas = Readonly<Record<string, Record<string, unknown> | boolean>>;

/**
 * Checks the names and the length of the schemas of a new version. Whether they are valid is for `require-schemas.ts`.
 * @param placeholders the names that its templates use
 * @throws {CallFailure}
 */
export function requireVariableSchemas(
  schemas: VariableSchemas,
  placeholders: readonly string[],
): void {
  for (const name of Object.keys(schemas)) {
    if (!placeholders.includes(name)) {
      throw invalidRequest(
        `Field "variableSchemas.${name}": the templates do not use {{${name}}}.`,
      );
    }
  }
  if (JSON.stringify(schemas).length > schemaCharsMax) {
    throw invalidRequest(`Field "variableSchemas" is longer than ${schemaCharsMax} characters.`);
  }
}

export interface VariableMismatch extends Mismatch {
  readonly variable: string;
}

/**
 * The first supplied value that does not match its schema; null if all match. `null` counts as not supplied.
 * @param schemas a valid JSON object `{name: schema}`; null for none
 */
export function mismatchedVariable(
  workspaceId: string,
  schemas: string | null,
  { values }: Variables,
): VariableMismatch | null {
  if (schemas === null) return null;
  for (const { name, text: schema } of cache.getOrCreate(schemas, () => members(schemas))) {
    const json = values.get(name) ?? 'null';
    if (json === 'null') continue;
    const mismatch = findMismatch({ workspaceId, schema }, json);
    if (mismatch) return { variable: name, ...mismatch };
  }
  return null;
}

/** Members by the text of their object. */
const cache = new LruCache<ReturnType<typeof members>>(200);

export function variableMismatchMessage({ variable, path, message }: VariableMismatch): string {
  const at = path === '' ? '' : ` at ${path.slice(0, pathCharsMax)}`;
  return `Variable "${variable}" does not match its schema${at}: ${message}.`;
}

const pathCharsMax = 200;
