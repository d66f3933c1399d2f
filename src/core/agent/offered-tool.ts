import { isObject } from '../is-object.ts';
import type { ExecutedTool } from '../tools/executed-tool.ts';
import type { Tool } from './version-content.ts';

/** What the model sees of it: the values that the call supplies are none of its arguments. */
export function offeredTool({ name, description, inputSchema, bind }: ExecutedTool): Tool {
  const shown = description === undefined ? { name } : { name, description };
  const bound = new Set(Object.keys(bind));
  if (bound.size === 0) return { ...shown, parameters: inputSchema };
  const { properties, required } = inputSchema;
  return {
    ...shown,
    parameters: {
      ...inputSchema,
      ...(isObject(properties) && {
        properties: Object.fromEntries(
          Object.entries(properties).filter(([property]) => !bound.has(property)),
        ),
      }),
      ...(Array.isArray(required) && {
        required: required.filter((property) => !bound.has(property)),
      }),
    },
  };
}
