import {
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  type Tool,
} from '@modelcontextprotocol/server';
import { toolNameOf } from '../../core/agent/tool-name.ts';
import { inputSchemaOf, withoutDialect } from '../../core/agent/tool-schema.ts';
import { slugPattern } from '../../core/slug.ts';
import { toolsPageBytesMax, toolsPageMax } from '../../http/contract/contract-limits.ts';
import type { Era, McpRequest } from './mcp-request.ts';
import { type AgentToolRow, findTool, listTools, type WorkflowToolRow } from './tools.ts';

/** A page of the tools that the key may call. The cursor is the last slug of the page before. */
export async function listedTools(
  { deps, caller, slug }: McpRequest,
  era: Era,
  cursor: string | undefined,
): Promise<ListToolsResult> {
  if (cursor !== undefined && !isCursor.test(cursor)) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The cursor is not valid.');
  }
  const only = slug === null ? null : await findTool(deps.db, caller, slug);
  const query = { id: only?.id ?? null, after: cursor ?? null, limit: toolsPageMax + 1 };
  const rows = slug === null || only ? await listTools(deps.db, caller, query) : [];
  const tools: Tool[] = [];
  let bytes = 0;
  for (const row of rows) {
    const tool = toolOf(row, era);
    bytes += Buffer.byteLength(JSON.stringify(tool));
    // The first tool always fits, or the list would never end.
    if (tools.length === toolsPageMax || (tools.length > 0 && bytes > toolsPageBytesMax)) break;
    tools.push(tool);
  }
  const last = rows[tools.length - 1];
  return { tools, ...(last && tools.length < rows.length && { nextCursor: last.slug }) };
}

const isCursor = new RegExp(slugPattern);

function toolOf(row: AgentToolRow | WorkflowToolRow, era: Era): Tool {
  const { slug, name: title } = row;
  const name = toolNameOf(slug);
  if (row.kind === 'workflow') {
    const inputSchema = inputSchemaOf({ ...row.input, schemas: {}, messageLists: [] });
    return { name, title, description: row.description || title, inputSchema } as Tool;
  }
  const inputSchema = inputSchemaOf({
    required: row.requiredVariables,
    optional: row.optionalVariables,
    defaults: row.defaultVariableValues,
    schemas: row.variableSchemas ?? {},
    messageLists: row.messageLists,
  });
  const description = row.description || row.promptDescription || title;
  const outputSchema = outputSchemaOf(row, era);
  return { name, title, description, inputSchema, ...(outputSchema && { outputSchema }) } as Tool;
}

/** Null if a result may have no structure, or one that the revision does not allow. */
function outputSchemaOf({ responseFormat, callsFunctions }: AgentToolRow, era: Era) {
  if (!responseFormat || callsFunctions) return null;
  const schema = withoutDialect(responseFormat.schema);
  return era === 'modern' || schema.type === 'object' ? schema : null;
}
