import type { ResponseFormat } from '../../core/agent/response-format.ts';
import type { VariableSchemas } from '../../core/agent/variable-schemas.ts';
import type { Compute } from '../../core/compute.ts';
import { invalidRequest } from '../../core/failure.ts';
import {
  findSchemaProblemJob,
  findToolSchemaProblemJob,
  schemaWarningsJob,
} from '../../core/schema/schema-validator.ts';

/** Schemas that users write, checked before they are stored: in the compute thread, and before any row is locked. */
export interface WrittenSchemas {
  readonly responseFormat?: ResponseFormat | null;
  readonly variableSchemas?: VariableSchemas | null;
}

/**
 * @param place of the fields in the request, with its dot: `agentConfig.`
 * @throws {CallFailure} that names the field and the place in its schema
 */
export async function requireSchemas(
  compute: Compute,
  workspaceId: string,
  { responseFormat, variableSchemas }: WrittenSchemas,
  place = '',
): Promise<void> {
  const own = responseFormat?.schema;
  const fields = [
    ...(own ? [[`${place}responseFormat.schema`, own, false] as const] : []),
    ...Object.entries(variableSchemas ?? {}).map(
      ([name, schema]) => [`${place}variableSchemas.${name}`, schema, true] as const,
    ),
  ];
  for (const [field, given, strict] of fields) {
    const schema = { workspaceId, schema: JSON.stringify(given), strict };
    const problem = await compute.run(workspaceId, findSchemaProblemJob, schema);
    if (problem !== null) throw invalidRequest(`Field "${field}" ${problem}.`);
  }
}

/**
 * Likewise the schemas of tools, which only models and servers match.
 * @param beginning of the message, up to the field of the tools
 */
export async function requireToolSchemas(
  compute: Compute,
  workspaceId: string,
  tools: readonly { readonly parameters?: object; readonly inputSchema?: object }[],
  beginning = 'Field "',
): Promise<void> {
  for (const [index, tool] of tools.entries()) {
    for (const field of ['parameters', 'inputSchema'] as const) {
      if (!tool[field]) continue;
      const schema = JSON.stringify(tool[field]);
      const problem = await compute.run(workspaceId, findToolSchemaProblemJob, schema);
      if (problem === null) continue;
      throw invalidRequest(`${beginning}tools.${index}.${field}" ${problem}.`);
    }
  }
}

/** What a version's or a call's schema for the output does not check. */
export async function warningsOf(
  compute: Compute,
  workspaceId: string,
  responseFormat: ResponseFormat | null,
): Promise<string[]> {
  if (responseFormat === null) return [];
  const schema = JSON.stringify(responseFormat.schema);
  // Most schemas have none, and need not be compiled for that.
  if (!schema.includes('"pattern')) return [];
  const field = 'responseFormat.schema';
  return compute.run(workspaceId, schemaWarningsJob, { workspaceId, schema, field });
}
