import type { ToolDefinition } from '../../../core/tools/tool-server.ts';

/** A definition alone, with its fields in one order. */
export function definitionOf({ name, description, inputSchema, path = '' }: ToolDefinition) {
  return { name, description, inputSchema, ...(path !== '' && { path }) };
}
