import { type Labels, labelsJson } from '../execution/labels.ts';
import { canonical, identical, members } from '../json.ts';
import { readMessages, type ToolCall } from './messages.ts';
import type { ResponseFormat } from './response-format.ts';
import { type ExecuteBody, readVariables } from './variables.ts';
import type { Tool, ToolChoice } from './version-content.ts';

/**
 * A call of an agent in the form of a conversation, as clients of the OpenAI API send it. The agent decides which of its
 * variables the conversation fills, so admission resolves it.
 *
 * - A version with a list of messages that the caller supplies: the conversation is that list.
 * - Otherwise the one message of the conversation is the one required variable that `prompt.variables` does not supply.
 * - Otherwise the conversation must be empty.
 *
 * What a caller adds to the pinned prompt needs a permission of the agent.
 */
export interface Conversation {
  readonly kind: 'conversation';
  /** Without system messages. */
  readonly messages: readonly SuppliedMessage[];
  readonly additions: CallAdditions;
  readonly responseFormat: ResponseFormat | null;
  readonly prompt: PromptReference | null;
  readonly labels: Labels | null;
  /** Whether the response of the model is read as a stream; the agent decides if left out. */
  readonly stream?: boolean;
  /** Whether the client does not wait: a response that is read later says so. */
  readonly background?: true;
  /** The characters of the request. */
  readonly chars: number;
  /** What the parameters are called in the request. */
  readonly names: ParameterNames;
}

/** A message as a caller supplies it in a list. */
export type SuppliedMessage =
  | { readonly role: 'user'; readonly content: string | readonly SuppliedPart[] }
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly toolCalls?: readonly ToolCall[];
    }
  | { readonly role: 'tool'; readonly toolCallId: string; readonly content: string };

/** An image or file is an https URL or a data URL. */
export type SuppliedPart =
  | { readonly text: string }
  | { readonly image: string }
  | { readonly file: string };

/** What a caller adds to the prompt of one execution. */
export interface CallAdditions {
  readonly instructions: string | null;
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | null;
}

export interface PromptReference {
  /** The stored id of a prompt; null if it names the agent. */
  readonly promptId: string | null;
  /** A label, number or identifier of the pinned version, or a number with that label in `versionAliases`. */
  readonly version: string | null;
  /** The variables as compact JSON text. */
  readonly variables: string;
}

export interface ParameterNames {
  readonly messages: string;
  readonly instructions: string;
  readonly responseFormat: string;
}

/** A request that cannot be a call; `parameter` and `parameterCode` follow the OpenAI API. */
export interface InvalidParameter {
  readonly kind: 'invalid-parameter';
  readonly message: string;
  readonly parameter: string | null;
  readonly parameterCode: ParameterCode;
}

export type ParameterCode =
  | 'unsupported_parameter'
  | 'unknown_parameter'
  | 'missing_required_parameter'
  | 'invalid_type'
  | 'invalid_value';

/** The body of any call of an agent. */
export type CallBody = ExecuteBody | Conversation | InvalidParameter;

/** The properties of an agent and its version that a conversation must fit. */
export interface ConversationTarget {
  readonly promptId: string;
  readonly versionId: string;
  readonly versionLabel: string;
  readonly versionNumber: number;
  /** Labels by the version numbers that callers may send instead. */
  readonly versionAliases: Readonly<Record<string, string>>;
  readonly requiredVariables: readonly string[];
  readonly messageLists: readonly string[];
  readonly allowInstructions: boolean;
  readonly allowTools: boolean;
  /** Of the agent, else of its version. */
  readonly responseFormat: ResponseFormat | null;
  readonly toolNames: readonly string[];
  /** Whether the caller may read these settings: only then does a refusal name them. */
  readonly isReadable: boolean;
}

export interface ResolvedConversation {
  readonly body: ExecuteBody;
  /** Null if the caller adds nothing. */
  readonly additions: CallAdditions | null;
  /** The caller's, if the agent has none of its own. */
  readonly responseFormat: ResponseFormat | null;
}

/** The call of the agent, or why it cannot be one. `versionWireId` is the identifier of the pinned version. */
export function resolveConversation(
  call: Conversation,
  target: ConversationTarget,
  versionWireId: string,
): ResolvedConversation | InvalidParameter {
  const refused =
    promptProblem(call, target, versionWireId) ??
    additionProblem(call, target) ??
    formatProblem(call, target);
  if (refused) return refused;
  const supplied = call.prompt?.variables ?? '{}';
  const filled = fillVariables(call, target, supplied);
  if ('kind' in filled) return filled;
  const { instructions, tools } = call.additions;
  return {
    body: readVariables(filled.json, call.labels),
    additions: instructions !== null || tools.length > 0 ? call.additions : null,
    responseFormat: target.responseFormat ? null : call.responseFormat,
  };
}

function promptProblem(
  { prompt }: Conversation,
  target: ConversationTarget,
  versionWireId: string,
): InvalidParameter | null {
  if (!prompt) return null;
  if (prompt.promptId !== null && prompt.promptId !== target.promptId) {
    return invalid('prompt.id', 'The agent does not use this prompt.');
  }
  const { version } = prompt;
  if (version === null) return null;
  const { versionLabel, versionNumber, versionAliases } = target;
  // A number of another system takes precedence over the same number here.
  const isPinned = Object.hasOwn(versionAliases, version)
    ? versionAliases[version] === versionLabel
    : [versionLabel, String(versionNumber), versionWireId].includes(version);
  if (isPinned) return null;
  const message = target.isReadable
    ? `The agent pins the version "${versionLabel}" of its prompt. Leave out the version, or pin another one.`
    : 'The agent pins another version of its prompt. Leave out the version.';
  return invalid('prompt.version', message);
}

function additionProblem(
  { additions: { instructions, tools }, names }: Conversation,
  { allowInstructions, allowTools, toolNames, isReadable }: ConversationTarget,
): InvalidParameter | null {
  if (instructions !== null && !allowInstructions) {
    const message =
      'This agent has its own instructions and takes none from callers, unless its setting "allowInstructions" permits it.';
    return unsupported(names.instructions, message);
  }
  if (tools.length === 0) return null;
  if (!allowTools) {
    const message =
      'This agent takes no tools from callers, unless its setting "allowTools" permits it.';
    return unsupported('tools', message);
  }
  const conflicting = tools.find(({ name }) => toolNames.includes(name));
  if (!conflicting) return null;
  const message = isReadable
    ? `The agent has a tool "${conflicting.name}" of its own.`
    : 'The agent has a tool of its own with one of these names. Use other names.';
  return invalid('tools', message);
}

/** A caller may ask for the format that the agent has, or for one if it has none. */
function formatProblem(
  { responseFormat: asked, names }: Conversation,
  { responseFormat: own }: ConversationTarget,
): InvalidParameter | null {
  if (!asked || !own || identical(asked.schema, own.schema)) return null;
  if (identical(asked.schema, anyObject)) return null;
  const message = 'This agent has its own response format, which is another one.';
  return unsupported(names.responseFormat, message);
}

/** The schema of a format that asks for any JSON object. */
export const anyObject = { type: 'object' } as const;

/** The variables with the conversation among them. */
function fillVariables(
  { messages, names }: Conversation,
  { messageLists, requiredVariables }: ConversationTarget,
  supplied: string,
): { readonly json: string } | InvalidParameter {
  if (messages.length === 0) return { json: supplied };
  const given = new Set(
    members(supplied).flatMap(({ name, text }) => (text === 'null' ? [] : name)),
  );
  const lists = messageLists.filter((name) => !given.has(name));
  const required = requiredVariables.filter((name) => !given.has(name));
  const accepted = acceptedText(requiredVariables, messageLists);
  if (messageLists.length > 0) {
    const [list, ...others] = lists;
    if (list === undefined || others.length > 0) return invalid(names.messages, accepted);
    const json = JSON.stringify(messages);
    const read = readMessages(json, list);
    if ('problem' in read) return invalid(names.messages, `The conversation ${read.problem}.`);
    return { json: withMember(supplied, list, json) };
  }
  const [variable, ...others] = required;
  const [message, ...later] = messages;
  if (variable === undefined || others.length > 0) return invalid(names.messages, accepted);
  if (later.length > 0 || message?.role !== 'user') {
    const reason = `This agent takes one message of the user, no conversation: its prompt has no place for earlier messages.`;
    return invalid(names.messages, reason);
  }
  const value = singleValue(message.content);
  if (value === null) {
    return invalid(names.messages, 'This agent takes a text, or one image or file, not both.');
  }
  return { json: withMember(supplied, variable, JSON.stringify(value)) };
}

/** A text, or the one image or file. */
function singleValue(content: string | readonly SuppliedPart[]): string | null {
  if (typeof content === 'string') return content;
  const [part, ...others] = content;
  if (!part || others.length > 0) return null;
  return Object.values(part)[0] ?? null;
}

/** What the agent accepts, for a caller whose conversation does not fit. */
function acceptedText(required: readonly string[], lists: readonly string[]): string {
  if (lists.length > 1) {
    return `This agent has several lists of messages: ${lists.join(', ')}. Supply all but one in prompt.variables.`;
  }
  if (lists.length === 1) {
    return `The conversation of this agent is already supplied in prompt.variables.${lists[0]}.`;
  }
  if (required.length === 0) {
    return 'This agent requires no variable that a message could fill. Supply variables in prompt.variables.';
  }
  return `This agent requires the variables ${required.join(', ')}. A message fills the only one that is not supplied in prompt.variables.`;
}

function withMember(object: string, name: string, json: string): string {
  const start = object === '{}' ? '{' : `${object.slice(0, -1)},`;
  return `${start}${JSON.stringify(name)}:${json}}`;
}

/** The text that is compared for the same idempotency key. */
export function conversationDigestInput(call: Conversation): string {
  const { labels, prompt, names: _, chars: __, stream: ___, background: ____, ...rest } = call;
  return canonical(JSON.stringify({ ...rest, prompt, labels: labelsJson(labels) }));
}

function invalid(parameter: string, message: string): InvalidParameter {
  return { kind: 'invalid-parameter', message, parameter, parameterCode: 'invalid_value' };
}

function unsupported(parameter: string, message: string): InvalidParameter {
  return { kind: 'invalid-parameter', message, parameter, parameterCode: 'unsupported_parameter' };
}
