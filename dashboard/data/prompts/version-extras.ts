import type { PromptVersion, PromptVersionInput } from '../../../src/client/index.ts';

/** The fields of a version that have no field of their own in forms: tools and rarer settings. They are edited as JSON. */
const extraNames = [
  'tools',
  'toolChoice',
  'reasoningEffort',
  'stop',
  'seed',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'cachePrompt',
  'serviceTier',
  'providerOptions',
] as const satisfies readonly (keyof PromptVersionInput)[];

type Extras = Pick<PromptVersionInput, (typeof extraNames)[number]>;

/** As JSON text; empty if there are none. */
export function extrasText(version: Partial<Pick<PromptVersion, keyof Extras>>): string {
  const given = extraNames.flatMap((name) => {
    const value = name === 'tools' ? version.tools?.map(asWritten) : version[name];
    return value === undefined || value === null ? [] : [[name, value]];
  });
  return given.length === 0 ? '' : JSON.stringify(Object.fromEntries(given), null, 2);
}

type VersionTool = NonNullable<PromptVersion['tools']>[number];

/** A tool of a server as a new version names it: what the server says of it is copied then. */
function asWritten(tool: VersionTool): unknown {
  if (!('server' in tool)) return tool;
  const { server, tool: named, name, description, isDescribed, ...rest } = tool;
  const { approval, safe, bind, resultLimit } = rest;
  return {
    ...{ server, tool: named },
    ...(name !== named && { name }),
    ...(isDescribed && { description }),
    ...{ approval, safe },
    ...(Object.keys(bind).length > 0 && { bind }),
    resultLimit,
  };
}

/** The text with a further tool of a server. */
export function withTool(extras: Extras, server: string, tool: string): string {
  const tools = [...toolsOf(extras), { server, tool, approval: 'never' }];
  return JSON.stringify({ ...extras, tools }, null, 2);
}

/** Whether the text names a tool of a server. */
export function hasTool(extras: Extras, server: string, tool: string): boolean {
  return toolsOf(extras).some((one) => one?.server === server && one.tool === tool);
}

type WrittenTool = { readonly server?: unknown; readonly tool?: unknown } | null;

/** Somebody may be writing them. */
function toolsOf({ tools }: { readonly tools?: unknown }): readonly WrittenTool[] {
  return Array.isArray(tools) ? tools : [];
}

/** The fields in the text; a message if it is invalid. */
export function readExtras(text: string): Extras | string {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'Not valid JSON.';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return 'Must be a JSON object.';
  }
  const unknown = Object.keys(value).find((name) => !extraNames.includes(name as keyof Extras));
  if (unknown !== undefined) {
    return `Unknown field "${unknown}". Allowed: ${extraNames.join(', ')}.`;
  }
  return value as Extras;
}
