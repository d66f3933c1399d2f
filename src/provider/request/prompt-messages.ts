import { type Content, fileOf, textOf } from '../../core/agent/content.ts';
import type { Message, ToolCall } from '../../core/agent/messages.ts';
import type { Tool, ToolChoice } from '../../core/agent/version-content.ts';
import { isObject } from '../../core/is-object.ts';
import type { ModelCall } from '../../core/model/model-port.ts';
import type { ProviderKind } from '../../core/model/provider.ts';
import type { Answer, CallOptions } from '../model.ts';
import { filePart } from './files.ts';
import { withSystemFirst } from './message-order.ts';

/** Messages and tools in the form of the AI SDK's specification. */

type Prompt = CallOptions['prompt'];

export function promptOf(
  { system, user, messages }: Pick<ModelCall, 'system' | 'user' | 'messages'>,
  kind: ProviderKind,
): Prompt {
  if (messages) {
    const prompt = fromMessages(messages);
    // These APIs have one place for system texts.
    return systemFirst.has(kind) ? withSystemFirst(prompt) : prompt;
  }
  return [
    ...(isEmpty(system) ? [] : [{ role: 'system' as const, content: system ?? '' }]),
    ...(isEmpty(user) ? [] : [{ role: 'user' as const, content: [textPart(user)] }]),
  ];
}

/** Providers reject empty texts, so such messages are left out. */
function fromMessages(messages: readonly Message[]): Prompt {
  const names = new Map<string, string>();
  const fileNames = new Map<string, number>();
  return messages.flatMap((message): Prompt => {
    const { role } = message;
    if (role === 'user') {
      const parts = userContent(message.content, fileNames);
      return parts.length === 0 ? [] : [{ role, content: parts }];
    }
    const content = textOf(message.content);
    if (role === 'tool') {
      const { toolCallId } = message;
      const toolName = names.get(toolCallId) ?? '';
      const output = { type: 'text' as const, value: content };
      return [{ role, content: [{ type: 'tool-result', toolCallId, toolName, output }] }];
    }
    if (role === 'assistant') {
      const { toolCalls = [] } = message;
      for (const { id, name } of toolCalls) names.set(id, name);
      const parts = [...(isEmpty(content) ? [] : [textPart(content)]), ...toolCalls.map(callPart)];
      return parts.length === 0 ? [] : [{ role, content: parts }];
    }
    return isEmpty(content) ? [] : [{ role, content }];
  });
}

const systemFirst: ReadonlySet<ProviderKind> = new Set(['anthropic', 'google', 'bedrock']);

function userContent(content: Content, fileNames: Map<string, number>): UserMessage['content'] {
  if (typeof content === 'string') return isEmpty(content) ? [] : [textPart(content)];
  return content.flatMap((part): UserMessage['content'] => {
    if ('text' in part) return isEmpty(part.text) ? [] : [textPart(part.text)];
    const { kind, source } = fileOf(part);
    return [filePart(kind, source, fileNames)];
  });
}

type UserMessage = Extract<Prompt[number], { role: 'user' }>;

function textPart(text: string) {
  return { type: 'text' as const, text };
}

function callPart({ id, name, arguments: given }: ToolCall) {
  const input = typeof given === 'string' ? parsed(given) : given;
  return { type: 'tool-call' as const, toolCallId: id, toolName: name, input };
}

function isEmpty(text: string | null): boolean {
  return text === null || text.trim() === '';
}

export function toolOptions(
  tools: readonly Tool[] | undefined,
  toolChoice: ToolChoice | undefined,
): Pick<CallOptions, 'tools' | 'toolChoice'> {
  if (!tools) return {};
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      ...{ type: 'function' as const, name },
      ...(description !== undefined && { description }),
      inputSchema: parameters ?? { type: 'object', properties: {} },
    })),
    ...(toolChoice !== undefined && {
      toolChoice:
        typeof toolChoice === 'string'
          ? { type: toolChoice }
          : { type: 'tool', toolName: toolChoice.tool },
    }),
  };
}

/** The calls of tools in an answer. */
export function toolCallsOf({ content }: Answer): ToolCall[] {
  return content.flatMap((part) =>
    part.type === 'tool-call' && !part.providerExecuted
      ? [{ id: part.toolCallId, name: part.toolName, arguments: parsed(part.input) }]
      : [],
  );
}

/**
 * The object that a text contains; the text itself if it is no JSON object. No text and `null` are calls without arguments.
 * Some models write the object as a JSON text once more.
 */
function parsed(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    const object: unknown = typeof value === 'string' ? JSON.parse(value) : (value ?? {});
    return isObject(object) ? object : text;
  } catch {
    return text;
  }
}

/** The first call whose arguments are not JSON, such as one that was cut off; undefined if there is none. */
export function unreadableCall(calls: readonly ToolCall[]): ToolCall | undefined {
  return calls.find(({ arguments: given }) => typeof given === 'string' && !isJson(given));
}

function isJson(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    // Arguments of streams that are not JSON are joined to a text, which is JSON again once it is written.
    return typeof value !== 'string';
  } catch {
    return false;
  }
}
