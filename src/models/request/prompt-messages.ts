import { type Content, fileOf, textOf } from '../../core/agent/content.ts';
import type { Message, ToolCall } from '../../core/agent/messages.ts';
import type { Tool, ToolChoice } from '../../core/agent/version-content.ts';
import type { ModelCall } from '../../core/model/model-port.ts';
import type { Answer, CallOptions } from '../port/model.ts';
import { reasonOf } from '../response/finish-reason.ts';
import { filePart } from './files.ts';
import { withSystemFirst } from './message-order.ts';
import { type Addressee, assistantMessage, parseModelArguments } from './restore-message.ts';

/** Messages and tools in the form of the AI SDK's specification. */

type Prompt = CallOptions['prompt'];

export function promptOf(
  { system, user, messages }: Pick<ModelCall, 'system' | 'user' | 'messages'>,
  addressee: Addressee,
): Prompt {
  if (messages) {
    const prompt = fromMessages(messages, addressee);
    // These APIs have one place for system texts.
    return systemFirst.has(addressee.kind) ? withSystemFirst(prompt) : prompt;
  }
  return [
    ...(isEmpty(system) ? [] : [{ role: 'system' as const, content: system ?? '' }]),
    ...(isEmpty(user) ? [] : [{ role: 'user' as const, content: [textPart(user)] }]),
  ];
}

/** Providers reject empty texts, so such messages are left out. */
function fromMessages(messages: readonly Message[], addressee: Addressee): Prompt {
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
      for (const { id, name } of message.toolCalls ?? []) names.set(id, name);
      const sent = assistantMessage(message, content, addressee);
      return sent ? [sent] : [];
    }
    return isEmpty(content) ? [] : [{ role, content }];
  });
}

const systemFirst: ReadonlySet<Addressee['kind']> = new Set(['anthropic', 'google', 'bedrock']);

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
      type: 'function' as const,
      name,
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

/**
 * The calls of tools in an answer. At the token limit, a call without arguments is one whose arguments were cut off before they
 * began.
 */
export function toolCallsOf({ content, finishReason }: Answer): ToolCall[] {
  const called = content.filter((part) => part.type === 'tool-call');
  return called.flatMap(({ toolCallId: id, toolName: name, input, providerExecuted }) => {
    if (providerExecuted) return [];
    const isLast = id === called.at(-1)?.toolCallId;
    const isCut = isLast && reasonOf(finishReason) === 'length' && /^\s*(\{\s*\})?\s*$/.test(input);
    return [{ id, name, arguments: isCut ? '' : parseModelArguments(input) }];
  });
}

/** The first call whose arguments are no JSON object, such as one that was cut off; undefined if there is none. */
export function unreadableCall(calls: readonly ToolCall[]): ToolCall | undefined {
  return calls.find(({ arguments: given }) => typeof given === 'string');
}
