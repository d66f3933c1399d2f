import type { ResponseFormat } from '../../core/agent/response-format.ts';
import type { VariableSchemas } from '../../core/agent/variable-schemas.ts';
import type { Compute } from '../../core/compute.ts';
import { invalidRequest } from '../../core/failure.ts';
import { findSchemaProblemJob } from '../../core/schema/schema-validator.ts';

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
  const fields = [
    ...(responseFormat ? [[`${place}responseFormat.schema`, responseFormat.schema] as const] : []),
    ...Object.entries(variableSchemas ?? {}).map(
      ([name, schema]) => [`${place}variableSchemas.${name}`, schema] as const,
    ),
  ];
  for (const [field, given] of fields) {
    const schema = { workspaceId, schema: JSON.stringify(given) };
    const problem = await compute.run(workspaceId, findSchemaProblemJob, schema);
    if (problem !== null) throw invalidRequest(`Field "${field}" ${problem}.`);
  }
}
