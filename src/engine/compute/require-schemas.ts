import type { ResponseFormat } from '../../core/agent/response-format.ts';
import type { VariableSchemas } from '../../core/agent/variable-schemas.ts';
import type { Compute } from '../../core/compute.ts';
import { invalidRequest } from '../../core/failure.ts';
import { findSchemaProblemJob, schemaWarningsJob } from '../../core/schema/schema-validator.ts';
import { definitionsCharsMax } from '../../core/tools/tool-server.ts';

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
  const check = (field: string, schema: unknown, strict: boolean) =>
    requireSchema(compute, workspaceId, { subject: `Field "${place}${field}"`, schema, strict });
  if (responseFormat) await check('responseFormat.schema', responseFormat.schema, false);
  for (const [name, schema] of Object.entries(variableSchemas ?? {})) {
    await check(`variableSchemas.${name}`, schema, true);
  }
}

/**
 * Likewise the schemas of tools, whose patterns only models and servers match.
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
      const schema = tool[field];
      const subject = `${beginning}tools.${index}.${field}"`;
      const charsMax = definitionsCharsMax;
      if (schema) await requireSchema(compute, workspaceId, { subject, schema, charsMax });
    }
  }
}

async function requireSchema(
  compute: Compute,
  workspaceId: string,
  given: {
    readonly subject: string;
    readonly schema: unknown;
    readonly strict?: boolean;
    readonly charsMax?: number;
  },
): Promise<void> {
  const { subject, ...options } = given;
  const schema = { workspaceId, ...options, schema: JSON.stringify(given.schema) };
  const problem = await compute.run(workspaceId, findSchemaProblemJob, schema);
  if (problem !== null) throw invalidRequest(`${subject} ${problem}.`);
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
