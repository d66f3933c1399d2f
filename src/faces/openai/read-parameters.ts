import type {
  InvalidParameter,
  ParameterCode,
  SuppliedPart,
} from '../../core/agent/conversation.ts';
import { anyObject } from '../../core/agent/conversation.ts';
import type { ToolCall } from '../../core/agent/messages.ts';
import type { ResponseFormat } from '../../core/agent/response-format.ts';
import type { Tool, ToolChoice } from '../../core/agent/version-content.ts';
import { isObject } from '../../core/is-object.ts';
import { changedNumber } from '../../core/json.ts';
import { type Labels, readLabels } from '../../core/labels.ts';
import { schemaCharsMax } from '../../core/schema/schema-validator.ts';
import { toolsMax } from '../../http/contract/contract-limits.ts';

/** Reads the parameters that both APIs of OpenAI share. `null` counts as not sent. */

export type Parameters = Readonly<Record<string, unknown>>;

/** Thrown while a request is read. Admission gets it as a value, because it checks limits first. */
export class ParameterError extends Error {
  readonly body: InvalidParameter;
  constructor(parameterCode: ParameterCode, parameter: string | null, message: string) {
    super(message);
    this.body = { kind: 'invalid-parameter', message, parameter, parameterCode };
  }
}

export function missing(name: string): ParameterError {
  const message = `The parameter "${name}" is missing.`;
  return new ParameterError('missing_required_parameter', name, message);
}

export function unsupported(parameter: string, message?: string): ParameterError {
  const text = message ?? `The parameter "${parameter}" is not supported with this value.`;
  return new ParameterError('unsupported_parameter', parameter, text);
}

export function invalidValue(parameter: string, requirement: string): ParameterError {
  return new ParameterError(
    'invalid_value',
    parameter,
    `The parameter "${parameter}" ${requirement}.`,
  );
}

/** The value of a field; undefined if it is not sent. */
export function given(parameters: Parameters, name: string): unknown {
  return Object.hasOwn(parameters, name) ? (parameters[name] ?? undefined) : undefined;
}

/** @param path names the field in an error */
export function textOf(parameters: Parameters, name: string, path = name): string | null {
  const value = given(parameters, name);
  if (value === undefined) return null;
  if (typeof value === 'string') return value;
  throw new ParameterError('invalid_type', path, `The parameter "${path}" must be a string.`);
}

export function flagOf(parameters: Parameters, name: string): boolean {
  const value = given(parameters, name);
  if (value === undefined) return false;
  if (typeof value === 'boolean') return value;
  throw new ParameterError('invalid_type', name, `The parameter "${name}" must be a boolean.`);
}

/** @param path names the field in an error */
export function objectOf(parameters: Parameters, name: string, path = name): Parameters | null {
  const value = given(parameters, name);
  if (value === undefined) return null;
  if (isObject(value)) return value;
  throw new ParameterError('invalid_type', path, `The parameter "${path}" must be an object.`);
}

export function requireKnown(parameters: Parameters, known: readonly string[]): void {
  const unknown = Object.keys(parameters).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const name = unknown.slice(0, 100);
  throw new ParameterError('unknown_parameter', name, `Unknown parameter: "${name}".`);
}

/** The values of parameters with which these change nothing. `[]` is an empty list; of an object, the values of its fields. */
export type Harmless = Readonly<Record<string, readonly HarmlessValue[]>>;
type HarmlessValue = string | number | boolean | readonly [] | Harmless;

/** Refuses parameters that would change the answer unless they have one of the values that do not. */
export function requireHarmless(parameters: Parameters, harmless: Harmless, path = ''): void {
  for (const [name, values] of Object.entries(harmless)) {
    const value = given(parameters, name);
    if (value === undefined || values.some((one) => isEqual(one, value))) continue;
    const fields = values.find((one) => isObject(one));
    if (!fields || !isObject(value)) throw unsupportedValue(path + name, values);
    requireHarmless(value, fields, `${path}${name}.`);
  }
}

function isEqual(harmless: HarmlessValue, value: unknown): boolean {
  return Array.isArray(harmless) ? Array.isArray(value) && value.length === 0 : harmless === value;
}

function unsupportedValue(name: string, values: readonly HarmlessValue[]): ParameterError {
  const shown = values.filter((one) => !isObject(one)).map((one) => JSON.stringify(one));
  const other = shown.length === 0 ? '' : `, or send ${shown.join(' or ')}`;
  const message = `The parameter "${name}" is not supported with this value, because it would change the answer. Leave it out${other}.`;
  return unsupported(name, message);
}

/** Options of prompt caches, which the providers of agents have their own of. With `prewarm`, OpenAI answers nothing. */
export const harmlessCacheOptions = [{ prewarm: [false] }] as const;

/** Who the call is for. */
export function readCallerLabels(parameters: Parameters): Labels | null {
  const user = textOf(parameters, 'user') ?? textOf(parameters, 'safety_identifier');
  const metadata = objectOf(parameters, 'metadata');
  const labels = readLabels([
    ...(user === null ? [] : [{ name: 'user', text: JSON.stringify(user) }]),
    ...(metadata === null ? [] : [{ name: 'metadata', text: JSON.stringify(metadata) }]),
  ]);
  if (labels === null || !('problem' in labels)) return labels;
  const name = labels.problem.includes('"user"') ? 'user' : 'metadata';
  throw new ParameterError('invalid_value', name, labels.problem);
}

/** Function tools. Chat nests the fields of a function, responses do not. */
export function readTools(parameters: Parameters, nested: boolean): readonly Tool[] {
  const tools = given(parameters, 'tools') ?? [];
  if (!Array.isArray(tools)) throw invalidValue('tools', 'must be a list');
  if (tools.length > toolsMax) throw invalidValue('tools', `has more than ${toolsMax} items`);
  const read = tools.map((tool: unknown, index) => {
    const place = `tools[${index}]`;
    if (!isObject(tool)) throw invalidValue(place, 'must be an object');
    if (tool.type !== 'function') {
      throw unsupported(place, 'Only tools of type "function" are supported.');
    }
    return nested ? readTool(tool.function, `${place}.function`) : readTool(tool, place);
  });
  if (read.length > 0 && parameters.parallel_tool_calls === false) {
    throw unsupported('parallel_tool_calls');
  }
  const names = new Set<string>();
  for (const { name } of read) {
    if (names.has(name)) throw invalidValue('tools', `has two functions "${name}"`);
    names.add(name);
  }
  return read;
}

function readTool(fields: unknown, parameter: string): Tool {
  if (!isObject(fields)) throw invalidValue(parameter, 'must be an object');
  const name = textOf(fields, 'name') ?? '';
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    const requirement = 'must have 1 to 64 letters, digits, underscores and hyphens';
    throw invalidValue(`${parameter}.name`, requirement);
  }
  const description = textOf(fields, 'description');
  const schema = objectOf(fields, 'parameters');
  if (schema !== null && JSON.stringify(schema).length > schemaCharsMax) {
    const requirement = `is longer than ${schemaCharsMax} characters`;
    throw invalidValue(`${parameter}.parameters`, requirement);
  }
  return {
    name,
    ...(description !== null && { description }),
    ...(schema !== null && { parameters: schema }),
  };
}

/** Without tools, only choices that call none are possible. `functionName` reads the form of a named choice. */
export function readToolChoice(
  parameters: Parameters,
  tools: readonly Tool[],
  functionName: (choice: Parameters) => unknown,
): ToolChoice | null {
  const choice = given(parameters, 'tool_choice');
  if (choice === undefined) return null;
  if (choice === 'auto' || choice === 'none') return tools.length > 0 ? choice : null;
  if (choice === 'required' && tools.length > 0) return choice;
  const tool = isObject(choice) && choice.type === 'function' ? functionName(choice) : null;
  if (typeof tool === 'string' && tools.some(({ name }) => name === tool)) return { tool };
  throw unsupported('tool_choice');
}

/** `format` of responses, `response_format` of chat; both name the schema. */
export function readFormat(
  format: Parameters | null,
  schema: unknown,
  parameter: string,
): ResponseFormat | null {
  if (format === null || format.type === 'text') return null;
  if (format.type === 'json_object') return { type: 'json', schema: anyObject };
  if (format.type !== 'json_schema') throw unsupported(`${parameter}.type`);
  if (isObject(schema)) return { type: 'json', schema };
  throw invalidValue(`${parameter}.schema`, 'must be an object');
}

/** The arguments of a call of a tool: an object, or the text that the model wrote. */
export function readArguments(text: string): ToolCall['arguments'] {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && changedNumber(text) === null ? value : text;
  } catch {
    return text;
  }
}

/** The content of a message of the user: a text, or parts if some are images or files. */
export function readUserContent(
  content: unknown,
  types: readonly string[],
  parameter: string,
): string | SuppliedPart[] {
  const isFile = (part: unknown) => isObject(part) && fileTypes.includes(String(part.type));
  if (!Array.isArray(content) || !content.some(isFile)) {
    return readContent(content, types, parameter);
  }
  return content.map((part: unknown, index): SuppliedPart => {
    const place = `${parameter}[${index}]`;
    if (!isFile(part)) return { text: readContent([part], types, parameter) };
    return readFile(part as Parameters, place);
  });
}

const fileTypes = ['input_image', 'image_url', 'input_file', 'file'];

/** Files that were uploaded before are not known here. */
function readFile(part: Parameters, place: string): SuppliedPart {
  const isImage = part.type === 'input_image' || part.type === 'image_url';
  const nested = isObject(part.image_url) ? part.image_url.url : part.image_url;
  const file = isObject(part.file) ? part.file : part;
  const url = isImage ? nested : (file.file_data ?? file.file_url);
  if (typeof url !== 'string') {
    throw unsupported(place, 'An image or file must be given by its URL or data URL.');
  }
  return isImage ? { image: url } : { file: url };
}

/** The text of a content, which may have parts of these types. */
export function readContent(content: unknown, types: readonly string[], parameter: string): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw invalidValue(parameter, 'must be a text or a list of parts');
  return content
    .map((part: unknown, index) => {
      const type = isObject(part) ? part.type : undefined;
      const place = `${parameter}[${index}]`;
      if (typeof type === 'string' && !types.includes(type)) {
        throw unsupported(place, `Content of type "${type.slice(0, 100)}" is not supported.`);
      }
      const text = isObject(part) ? (part.text ?? part.refusal) : undefined;
      if (typeof text !== 'string') throw invalidValue(place, 'must be a part with a "text"');
      return text;
    })
    .join('');
}
