import { computeJob } from '../compute.ts';
import { stringEnd } from '../json.ts';
import { type Labels, labelsJson } from '../labels.ts';
import { type SchemaDifference, schemaDifference } from '../schema/schema-difference.ts';
import { schemaCharsMax } from '../schema/schema-validator.ts';
import type { SentToolCall } from './messages.ts';
import type { SuppliedReasoning } from './provider-message.ts';
import type { ResponseFormat } from './response-format.ts';
import { type MessageReasoning, type SentReasoning, splitReasoning } from './sent-reasoning.ts';
import type { DigestInput, ExecuteBody, UnparsedBody, Variables } from './variables.ts';
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
  readonly messages: SuppliedMessages;
  readonly additions: CallAdditions;
  readonly responseFormat: ResponseFormat | null;
  /** Its schema as JSON: writing that takes long. */
  readonly schemaText: string | null;
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

/** The messages as JSON: they are a variable of the agent, and long. */
export interface SuppliedMessages {
  readonly json: string;
  readonly reasoning: readonly MessageReasoning[];
  readonly count: number;
  /**
   * If the user sent one message and nothing else: where its text, or its one image or file, is in `json`. A copy would make the way
   * between threads twice as long.
   */
  readonly single: readonly [from: number, to: number] | null;
  /** Whether there is one message, which the user sent. */
  readonly isSingle: boolean;
}

export function suppliedMessages(messages: readonly SuppliedMessage[]): SuppliedMessages {
  const [message] = messages;
  const isSingle = messages.length === 1 && message?.role === 'user';
  const { list, reasoning } = splitReasoning(messages);
  const json = JSON.stringify(list);
  return {
    json,
    reasoning,
    count: messages.length,
    single: isSingle ? placeOfSingle(json) : null,
    isSingle,
  };
}

/** A message as a caller supplies it in a list. */
export type SuppliedMessage =
  | { readonly role: 'user'; readonly content: string | readonly SuppliedPart[] }
  | {
      readonly role: 'assistant';
      readonly content: string;
      readonly toolCalls?: readonly SentToolCall[];
      readonly reasoning?: readonly SuppliedReasoning[];
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
  /** Left out without any. */
  readonly reasoning?: SentReasoning;
}

export interface PromptReference {
  /** The stored id of a prompt; null if it names the agent. */
  readonly promptId: string | null;
  /** A label, number or identifier of the pinned version, or a number with that label in `versionAliases`. */
  readonly version: string | null;
  readonly variables: Variables;
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
export type CallBody = ParsedBody | UnparsedBody<ParsedBody>;

export type ParsedBody = ExecuteBody | Conversation | InvalidParameter;

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
  /** Of the agent, else of its version, as JSON. */
  readonly formatText: string | null;
  readonly toolNames: readonly string[];
  /** Null unless the service executes its tools. */
  readonly boundValues: readonly string[] | null;
  /** Whether the caller may read these settings: only then does a refusal name them. */
  readonly isReadable: boolean;
}

export interface ResolvedConversation {
  readonly body: ExecuteBody;
  /** Null if the caller adds nothing. */
  readonly additions: CallAdditions | null;
  /** The caller's, if the agent has none of its own. */
  readonly responseFormat: ResponseFormat | null;
  /** The variable that is the conversation; null if there is none. */
  readonly list: string | null;
}

/**
 * The call of the agent, or why it cannot be one. `versionWireId` is the identifier of the pinned version.
 * @param compared the formats as they were compared, if they were
 */
export function resolveConversation(
  call: Conversation,
  target: ConversationTarget,
  versionWireId: string,
  compared: ComparedFormats | null,
): ResolvedConversation | InvalidParameter | FormatsToCompare {
  const ownFormat = call.responseFormat && target.formatText;
  const refused =
    promptProblem(call, target, versionWireId) ??
    additionProblem(call, target) ??
    formatProblem(call, ownFormat, target.isReadable, compared);
  if (refused) return refused;
  const filled = fillVariables(call, target, call.prompt?.variables ?? noVariables);
  if ('kind' in filled) return filled;
  const { instructions, tools } = call.additions;
  const { list } = filled;
  const { reasoning: sent } = call.messages;
  const reasoning = list !== null && sent.length > 0 && { reasoning: { list, messages: sent } };
  const isExtended = instructions !== null || tools.length > 0 || reasoning;
  return {
    body: { kind: 'variables', variables: filled.variables, labels: call.labels },
    additions: isExtended ? { ...call.additions, ...reasoning } : null,
    responseFormat: ownFormat === null ? call.responseFormat : null,
    list,
  };
}

const noVariables: Variables = { json: '{}', values: new Map() };

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
  { allowInstructions, allowTools, toolNames, boundValues, isReadable }: ConversationTarget,
): InvalidParameter | null {
  if (instructions !== null && !allowInstructions) {
    const message =
      'This agent has its own instructions and takes none from callers, unless its setting "allowInstructions" permits it.';
    return unsupported(names.instructions, message);
  }
  if (tools.length === 0) return null;
  if (boundValues !== null) {
    return unsupported(
      'tools',
      'This agent executes tools of its own and takes none from callers.',
    );
  }
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

/**
 * A caller may ask for the format that the agent has, but for annotations and order, or for one if it has none. Only a caller that may
 * read the agent learns more than where its own schema differs. What takes long was compared before (`compareFormats`).
 */
function formatProblem(
  { schemaText: asked, names }: Conversation,
  own: string | null,
  isReadable: boolean,
  compared: ComparedFormats | null,
): InvalidParameter | FormatsToCompare | null {
  if (asked === null || own === null) return null;
  if (own === formatWith(asked) || asked === anyObjectText) return null;
  const isLong = asked.length > schemaCharsMax;
  if (!isLong && (compared?.own !== own || compared.asked !== asked)) {
    return { kind: 'formats', own, asked };
  }
  const difference = isLong ? longSchema : (compared?.difference ?? null);
  return difference && unsupported(names.responseFormat, differenceText(difference, isReadable));
}

/** The text of a format as agents and versions store it. */
function formatWith(schemaText: string): string {
  return `{"type":"json","schema":${schemaText}}`;
}

/** The format of an agent and the schema of a call, as JSON. */
export interface FormatsToCompare {
  readonly kind: 'formats';
  readonly own: string;
  readonly asked: string;
}

export interface ComparedFormats extends FormatsToCompare {
  /** Null if the schemas are the same. */
  readonly difference: SchemaDifference | null;
}

/** Takes long for long schemas, so it never happens while rows are locked. */
export function compareFormats(formats: FormatsToCompare): ComparedFormats {
  const { schema: own }: ResponseFormat = JSON.parse(formats.own);
  return { ...formats, difference: schemaDifference(own, JSON.parse(formats.asked)) };
}

export const compareFormatsJob = computeJob(import.meta.url, compareFormats);

/** Comparing it would take long, and none of an agent is this long. */
const longSchema: SchemaDifference = { path: '', own: null, other: null };

function differenceText({ path, own, other }: SchemaDifference, isReadable: boolean): string {
  const beginning = 'This agent has its own response format, whose schema differs from this one';
  const end = 'Leave the format out, or send the same schema.';
  // What the caller's schema lacks is something that only the agent's names.
  const place = isReadable || other !== null ? path : path.replace(/\/[^/]*$/, '');
  const where = place === '' ? '' : ` at ${place.slice(0, shownCharsMax)}`;
  if (!isReadable || (own === null && other === null)) return `${beginning}${where}. ${end}`;
  const [has, sent] = [own, other].map((json) => json?.slice(0, shownCharsMax) ?? 'nothing');
  return `${beginning}${where}: it has ${has}, the call ${sent}. ${end}`;
}

const shownCharsMax = 200;

/** The schema of a format that asks for any JSON object. */
export const anyObject = { type: 'object' } as const;
const anyObjectText = JSON.stringify(anyObject);

/** The variables with the conversation among them. */
function fillVariables(
  { messages, names }: Conversation,
  { messageLists, requiredVariables }: ConversationTarget,
  supplied: Variables,
): { readonly variables: Variables; readonly list: string | null } | InvalidParameter {
  if (messages.count === 0) return { variables: supplied, list: null };
  const isFree = (name: string) => (supplied.values.get(name) ?? 'null') === 'null';
  const lists = messageLists.filter(isFree);
  const required = requiredVariables.filter(isFree);
  const accepted = acceptedText(requiredVariables, messageLists);
  if (messageLists.length > 0) {
    const [list, ...others] = lists;
    if (list === undefined || others.length > 0) return invalid(names.messages, accepted);
    return { variables: withMember(supplied, list, messages.json), list };
  }
  const [variable, ...others] = required;
  if (variable === undefined || others.length > 0) return invalid(names.messages, accepted);
  if (!messages.isSingle) {
    const reason = `This agent takes one message of the user, no conversation: its prompt has no place for earlier messages.`;
    return invalid(names.messages, reason);
  }
  if (messages.single === null) {
    return invalid(names.messages, 'This agent takes a text, or one image or file, not both.');
  }
  const value = messages.json.slice(...messages.single);
  return { variables: withMember(supplied, variable, value), list: null };
}

/** The refusal of a conversation that is no list of messages. `problem` is the end of a sentence. */
export function listRefusal({ names }: Conversation, problem: string): InvalidParameter {
  return invalid(names.messages, `The conversation ${problem}.`);
}

/** The refusal of a schema that cannot be used. */
export function callerSchemaRefusal({ names }: Conversation, problem: string): InvalidParameter {
  const name = names.responseFormat;
  return invalid(name, `The parameter "${name}" is not valid: Field "${name}.schema" ${problem}.`);
}

/** Of the text in the only message, or of its only part. */
function placeOfSingle(json: string): SuppliedMessages['single'] {
  const [, beginning = ''] = /^(\[\{"role":"user","content":(?:\[\{"[a-z]+":)?)"/.exec(json) ?? [];
  const from = beginning.length;
  const to = stringEnd(json, from);
  const isWhole = from > 0 && (json.slice(to) === '}]' || json.slice(to) === '}]}]');
  return isWhole ? [from, to] : null;
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

/** The last value of a name counts. */
function withMember({ json: object, values }: Variables, name: string, json: string): Variables {
  const start = object === '{}' ? '{' : `${object.slice(0, -1)},`;
  return {
    json: `${start}${JSON.stringify(name)}:${json}}`,
    values: new Map([...values, [name, json]]),
  };
}

/** What is compared for the same idempotency key. */
export function conversationDigestInput(call: Conversation): DigestInput {
  const { kind, messages, additions, responseFormat, prompt, labels } = call;
  const fields = JSON.stringify({
    ...{ kind, additions, responseFormat, labels: labelsJson(labels) },
    prompt: prompt && { ...prompt, variables: prompt.variables.json },
  });
  return { json: [`${fields.slice(0, -1)},"messages":${messages.json}}`], marks: [] };
}

function invalid(parameter: string, message: string): InvalidParameter {
  return { kind: 'invalid-parameter', message, parameter, parameterCode: 'invalid_value' };
}

function unsupported(parameter: string, message: string): InvalidParameter {
  return { kind: 'invalid-parameter', message, parameter, parameterCode: 'unsupported_parameter' };
}
