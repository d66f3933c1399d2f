import { invalidRequest } from '../failure.ts';
import type { ExecutedTool } from '../tools/executed-tool.ts';
import type { ToolReference } from '../tools/tool-reference.ts';
import type { TemplateMessage } from './messages.ts';

/** What a version sends: the short form (`system` and `user`) or messages, and tools that the model may call. */
export interface VersionContent {
  readonly system: string | null;
  /** Null if there are messages. */
  readonly user: string | null;
  readonly messages: readonly TemplateMessage[] | null;
  readonly tools: readonly Tool[] | null;
  readonly toolChoice: ToolChoice | null;
  /** Those that the service executes, instead of `tools`. Absent or null if there are none. */
  readonly executedTools?: readonly ExecutedTool[] | null;
}

/** A tool that the caller executes. */
export interface Tool {
  readonly name: string;
  readonly description?: string;
  /** A JSON Schema of the arguments. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

export const toolChoices = ['auto', 'none', 'required'] as const;
export type ToolChoice = (typeof toolChoices)[number] | { readonly tool: string };

/** Content as a caller may send it. */
export type VersionContentFields = {
  readonly [Name in keyof Omit<VersionContent, 'tools' | 'executedTools'>]?:
    | VersionContent[Name]
    | undefined;
} & { readonly tools?: readonly (Tool | ToolReference)[] | null | undefined };

/** Content whose executed tools are not frozen yet. */
export interface WrittenContent extends VersionContent {
  /** Instead of `tools`. */
  readonly toolReferences?: readonly ToolReference[] | null;
}

/** The content among the fields of a request; fields left out are null. Throws if they contradict each other. */
export function versionContent(fields: VersionContentFields): WrittenContent {
  const { system = null, user = null, messages = null } = fields;
  const { tools: given = null, toolChoice = null } = fields;
  if (messages !== null && (system !== null || user !== null)) {
    throw invalidRequest('Field "messages" excludes "system" and "user".');
  }
  if (messages === null && user === null) throw invalidRequest('Field "user" is missing.');
  requireFilesOfUser(messages ?? []);
  requireToolsFit(given, toolChoice);
  const content = { system, user, messages, toolChoice };
  const references = (given ?? []).filter(isReference);
  if (references.length === 0) return { ...content, tools: given as Tool[], toolReferences: null };
  if (references.length === given?.length) {
    return { ...content, tools: null, toolReferences: references };
  }
  const message =
    'Field "tools" has tools of servers, which Cueline executes, beside tools that the caller executes. A version has only one of the two.';
  throw invalidRequest(message);
}

function isReference(tool: Tool | ToolReference): tool is ToolReference {
  return 'server' in tool;
}

function requireFilesOfUser(messages: readonly TemplateMessage[]): void {
  for (const [index, message] of messages.entries()) {
    if ('placeholder' in message || message.role === 'user') continue;
    if (typeof message.content === 'string') continue;
    if (message.content.every((part) => 'text' in part)) continue;
    const problem = `only messages of the user may have images and files, not "${message.role}".`;
    throw invalidRequest(`Field "messages.${index}.content": ${problem}`);
  }
}

function requireToolsFit(
  tools: readonly (Tool | ToolReference)[] | null,
  toolChoice: ToolChoice | null,
): void {
  const names = (tools ?? []).map((one) => (isReference(one) ? (one.name ?? one.tool) : one.name));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw invalidRequest(`Field "tools" declares "${twice}" twice.`);
  if (toolChoice === null) return;
  if (tools === null) throw invalidRequest('Field "toolChoice" needs "tools".');
  if (typeof toolChoice === 'string' || names.includes(toolChoice.tool)) return;
  throw invalidRequest('Field "toolChoice.tool" is none of "tools".');
}
