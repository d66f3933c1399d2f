import { createHash } from 'node:crypto';
import type { AllowedHosts } from '../allowed-hosts.ts';
import { computeJob } from '../compute.ts';
import { unknownName } from '../failure.ts';
import { fromId } from '../id.ts';
import { isObject } from '../is-object.ts';
import {
  canonical,
  compact,
  isStorable,
  jsonDepthMax,
  type Member,
  members,
  membersAndDepth,
  plain,
  unstorableJson,
} from '../json.ts';
import { type Labels, labelFields, labelsJson, readLabels } from '../labels.ts';
import { storable } from '../storable-text.ts';
import { decodeUtf8, notUtf8 } from '../utf8.ts';
import { costLimitMax, isCostLimit } from './cost-limit.ts';
import { readMessages } from './messages.ts';

/**
 * The body of an execute call, parsed once. A malformed body enters admission as a value too: it must not bypass the
 * limiter.
 */
export type ExecuteBody =
  | {
      readonly kind: 'variables';
      readonly variables: Variables;
      /** Null if the caller sent none. */
      readonly labels: Labels | null;
      /** Whether the response of the model is read as a stream; the agent decides if left out. */
      readonly stream?: boolean;
      /** The stored id of the execution that this one runs again. */
      readonly rerunOf?: string;
      /** Whether it is marked as one of a playground. */
      readonly playground?: boolean;
      /** The version that it executes instead of the pinned one. */
      readonly draft?: DraftVersion;
      /** The most that the execution or workflow run may cost, in US dollars. */
      readonly maxCostUSD?: number;
      /** Whether the client may have turned values into text (`text-values.ts`). */
      readonly mayHoldTexts?: boolean;
      /** The variables as sent, if some of these texts were read. */
      readonly sent?: Variables;
    }
  /** `denied`: its caller may not send such a body. */
  | {
      readonly kind: 'malformed' | 'too-large' | 'unsupported' | 'denied';
      readonly message: string;
    }
  /** An object without the field: no variables are supplied. */
  | { readonly kind: 'absent'; readonly message: string }
  | { readonly kind: 'invalid'; readonly message: string; readonly variable: string | null };

/** The unsaved version of a playground. */
export interface DraftVersion {
  /** As sent. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Its stored id, once it is checked and stored. */
  readonly versionId?: string;
}

/** A body that is parsed once its caller is known: it is long, or what it names must be looked up. */
export interface UnparsedBody<Parsed = ExecuteBody> {
  readonly kind: 'unparsed';
  readonly chars: number;
  /** Whether parsing it reads records: then it waits until the call has passed the checks that come before its body. */
  readonly readsRecords?: true;
  readonly parse: (workspaceId: string) => Promise<Parsed>;
}

export interface Variables {
  /** The whole object as compact JSON, with the order and number texts as sent. The record keeps this. */
  readonly json: string;
  /** Each value as compact JSON, decoded only when a prompt needs it. `null` values are included but not supplied. */
  readonly values: ReadonlyMap<string, string>;
}

/**
 * Parses `{"variables": {…}}`, or `{"input": {…}}` for a workflow, with labels and `maxCostUSD`; for an agent also with
 * `stream`, `rerunOf`, `playground` and `draft`. Other fields are rejected.
 */
export function parseExecuteBody(
  text: string,
  field: 'variables' | 'input' = 'variables',
): ExecuteBody {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { kind: 'malformed', message: 'The body is not valid JSON.' };
  }
  if (!isObject(body)) return invalid('The body must be a JSON object.');
  const found = members(compact(text));
  // If a field is sent twice, the last one wins, as in `JSON.parse`.
  const textOf = (field: string) => found.findLast(({ name }) => name === field)?.text ?? '{}';
  const isAgent = field === 'variables';
  const ofAgent = isAgent ? agentFields : [];
  const allowed: readonly string[] = [field, ...labelFields, ...ofAgent, costField];
  const unknown = found.find(({ name }) => !allowed.includes(name));
  if (unknown) {
    return invalid(unknownName(`Field ${JSON.stringify(unknown.name.slice(0, 100))}`, allowed));
  }
  const labels = readLabels(found);
  if (labels !== null && 'problem' in labels) return invalid(labels.problem);
  const options = readOptions(body);
  if ('problem' in options) return invalid(options.problem);
  const problem = options.draft && draftProblem(textOf('draft'));
  if (problem) return invalid(problem);
  if (body[field] === undefined) return { kind: 'absent', message: `Field "${field}" is missing.` };
  if (!isObject(body[field])) return invalid(`Field "${field}" must be an object.`);
  const read = readVariables(textOf(field), labels);
  return read.kind === 'variables' ? { ...read, ...options } : read;
}

const agentFields: readonly string[] = ['stream', 'rerunOf', 'playground', 'draft'];
const costField = 'maxCostUSD';

/** As long as the body that creates a version. */
const draftCharsMax = 1_048_576;

/** What holds for the body that creates a version. */
function draftProblem(text: string): string | null {
  if (text.length > draftCharsMax) {
    return `Field "draft" must have at most ${draftCharsMax} characters.`;
  }
  return unstorableJson(text, 'Field "draft"');
}

/** All fields that the body of a call may have. */
export const executeFields: readonly string[] = [
  ...['variables', 'input'],
  ...labelFields,
  ...agentFields,
  costField,
];

/** The fields beside the values and labels. A malformed id is treated as unknown. */
function readOptions(
  body: Record<string, unknown>,
):
  | { readonly problem: string }
  | Pick<VariablesBody, 'stream' | 'rerunOf' | 'playground' | 'draft' | 'maxCostUSD'> {
  const { stream, rerunOf, playground, draft, maxCostUSD } = body;
  for (const [name, value] of Object.entries({ stream, playground })) {
    if (value === undefined || typeof value === 'boolean') continue;
    return { problem: `Field "${name}" must be true or false.` };
  }
  const id = typeof rerunOf === 'string' ? fromId('execution', rerunOf) : null;
  if (rerunOf !== undefined && id === null) return { problem: unknownRerun };
  if (draft !== undefined && !isObject(draft)) {
    return { problem: 'Field "draft" must be an object.' };
  }
  if (draft !== undefined && playground !== true) {
    return { problem: 'Field "draft" is possible only with "playground": true.' };
  }
  if (maxCostUSD !== undefined && !isCostLimit(maxCostUSD)) {
    return { problem: `Field "maxCostUSD" must be a number above 0, at most ${costLimitMax}.` };
  }
  return {
    ...(stream !== undefined && { stream: stream as boolean }),
    ...(id !== null && { rerunOf: id }),
    ...(playground === true && { playground }),
    ...(draft !== undefined && { draft: { fields: draft } }),
    ...(maxCostUSD !== undefined && { maxCostUSD }),
  };
}

export const unknownRerun = 'Field "rerunOf" must be the identifier of an execution of this agent.';

/**
 * Parses the compact text of a variables object.
 * @param countMax the most variables that it may have
 */
export function readVariables(
  json: string,
  labels: Labels | null = null,
  countMax = suppliedMax,
): ExecuteBody {
  const { members: found, depth } = membersAndDepth(json);
  if (depth > jsonDepthMax) {
    return invalid(`Variables nest deeper than ${jsonDepthMax} levels.`);
  }
  if (!isStorable(json)) return unstorable(json);
  if (found.length > countMax) {
    const message = `There are ${found.length} variables, more than ${countMax}. Put what belongs together into one.`;
    return invalid(message);
  }
  return { kind: 'variables', variables: { json, values: valuesOf(found) }, labels };
}

/**
 * More than any prompt or workflow takes. The event loop reads the name of each: 70,000, which fit into 1 MiB, stop the process for 50 ms
 * at once, these for less than ten.
 */
const suppliedMax = 10_000;

/** If a name is sent twice, the last value wins. */
function valuesOf(found: readonly Member[]): Map<string, string> {
  return new Map(found.map(({ name, text }) => [name, text]));
}

/** Names the first variable that cannot be stored. */
function unstorable(json: string): ExecuteBody {
  const culprit = members(json).find(
    ({ name, text }) => !isStorable(JSON.stringify(name)) || !isStorable(text),
  );
  const variable = storable(culprit?.name.slice(0, 100) ?? '');
  const message = `Variable ${JSON.stringify(variable)} holds a NUL or a lone surrogate.`;
  return { kind: 'invalid', message, variable };
}

/** The required names that the body does not supply; empty if the body is invalid for another reason. */
export function missingOf(required: readonly string[], body: ExecuteBody): readonly string[] {
  if (body.kind === 'absent') return required;
  if (body.kind !== 'variables') return [];
  const { values } = body.variables;
  return required.filter((name) => (values.get(name) ?? 'null') === 'null');
}

/** The first of these variables whose value is supplied and no list of messages. */
export function malformedList(
  lists: readonly string[],
  { values }: Variables,
  allowed?: AllowedHosts,
): { readonly variable: string; readonly problem: string } | null {
  for (const variable of lists) {
    const json = values.get(variable) ?? 'null';
    const list = json === 'null' ? null : readMessages(json, variable, { allowed });
    if (list && 'problem' in list) return { variable, problem: list.problem };
  }
  return null;
}

/**
 * The prompt texts of stored (therefore valid) variables, or of `values` if they are parsed already.
 * @param names those that are needed
 */
export function suppliedTexts(
  json: string,
  values: Variables['values'] = valuesOf(members(json)),
  names: Iterable<string> = values.keys(),
): Map<string, string> {
  const texts = new Map<string, string>();
  for (const name of names) {
    const text = values.get(name) ?? 'null';
    if (text !== 'null') texts.set(name, variableText(text));
  }
  return texts;
}

/** The prompt text of a JSON value (as compact text): strings unchanged, anything else as JSON. */
export function variableText(json: string): string {
  return json.startsWith('"') ? (JSON.parse(json) as string) : plain(json);
}

/** The prompt texts of default values. */
export function defaultTexts(values: Readonly<Record<string, unknown>>): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [name, value] of Object.entries(values)) {
    if (value !== null) texts.set(name, variableText(JSON.stringify(value)));
  }
  return texts;
}

/** What is compared for the same idempotency key: JSON in canonical form, then marks. */
export interface DigestInput {
  readonly json: readonly string[];
  readonly marks: readonly string[];
}

export function bodyDigestInput(body: ExecuteBody): DigestInput {
  if (body.kind !== 'variables') return { json: [], marks: [body.kind] };
  const labels = labelsJson(body.labels);
  const { draft } = body;
  return {
    json: [
      body.variables.json,
      ...(labels === null ? [] : [labels]),
      ...(draft ? [JSON.stringify(draft.fields)] : []),
    ],
    marks: [...(body.playground ? ['playground'] : []), ...(draft ? ['draft'] : [])],
  };
}

/** Malformed bodies of one kind have the same digest. */
export function digestOf({ json, marks }: DigestInput): Uint8Array {
  const text = [...json.map(canonical), ...marks].join('\n');
  return createHash('sha256').update(text).digest();
}

export const digestJob = computeJob(import.meta.url, digestOf);

/** Parses a long body, in the compute thread. */
export function parseLongBody({ sent, field }: LongBody): PackedBody {
  const text = typeof sent === 'string' ? sent : decodeUtf8(sent);
  if (text === null) return { kind: 'malformed', message: notUtf8 };
  const body = parseExecuteBody(text, field);
  if (body.kind !== 'variables') return body;
  const { variables, ...rest } = body;
  return { ...rest, variables: packVariables(variables) };
}

export const parseLongBodyJob = computeJob(import.meta.url, parseLongBody);

export interface LongBody {
  /** Bytes have not been decoded yet. */
  readonly sent: string | Uint8Array;
  readonly field: 'variables' | 'input';
}

type VariablesBody = Extract<ExecuteBody, { kind: 'variables' }>;

/** A body on its way between threads. */
type PackedBody =
  | Exclude<ExecuteBody, VariablesBody>
  | (Omit<VariablesBody, 'variables'> & { readonly variables: PackedVariables });

/**
 * Variables on their way between threads, with the name of each and where its value is: a copy of each value would make the way
 * twice as long.
 */
export interface PackedVariables {
  readonly json: string;
  readonly places: readonly (readonly [name: string, from: number, to: number])[];
}

export function packVariables({ json }: Variables): PackedVariables {
  const places = members(json).map(({ name, text, at }) => [name, at, at + text.length] as const);
  return { json, places };
}

export function unpackVariables({ json, places }: PackedVariables): Variables {
  return { json, values: new Map(places.map(([name, from, to]) => [name, json.slice(from, to)])) };
}

export function unpackBody(body: PackedBody): ExecuteBody {
  if (body.kind !== 'variables') return body;
  return { ...body, variables: unpackVariables(body.variables) };
}

function invalid(message: string): ExecuteBody {
  return { kind: 'invalid', message, variable: null };
}
