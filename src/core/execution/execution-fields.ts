import { type TSchema, Type } from 'typebox';
import { type ExecutionErrorCode, executionErrorCodes } from '../failure.ts';
import { id, nullable, oneOf, time } from '../field-types.ts';
import type { IdKind } from '../id.ts';
import { type CostSource, costSources } from '../model/model-port.ts';
import { type Attempt, attemptType } from './attempt.ts';
import {
  type EndStatus,
  type ExecutionStatus,
  endStatuses,
  type StoredSource,
  sources,
} from './execution.ts';

/**
 * The fields of an execution, each declared once. From this table follow the statements that write and read it, its types, the
 * JSON of records and lists, the OpenAPI document, the columns of exports, and what a key without `read` sees.
 *
 * A field has its name and place in JSON. One without a column is computed (`shown-fields.ts`), one without a type is not shown.
 */

/** What supplies a column. `input` is of accepted calls only, `queue` are times of the live row, `clock` is the time of the end. */
type Supplier = 'terms' | 'request' | 'input' | 'queue' | 'outcome' | 'clock';

export interface FieldOptions {
  /** In JSON and in the OpenAPI document. A field whose value is null is left out if its type is optional. */
  readonly type?: TSchema;
  /** The position of its column in CSV. Append new columns: readers use the position. */
  readonly csv?: number;
  /** Only in the full record, not in lists. */
  readonly detail?: true;
  /** Present exactly if the execution has ended. */
  readonly figure?: true;
  /** Hidden from a key without `read`: a request always, a cost if the key is meant for browsers. */
  readonly hidden?: 'request' | 'cost';
  /** Kept only if the agent stores bodies. */
  readonly body?: true;
  /** If the agent stores no bodies, it is in `transient_outputs` for a while. */
  readonly transient?: true;
  /** Part of the terms that the end states again. */
  readonly restated?: true;
  /** Its property in rows, if that has another name. */
  readonly row?: string;
  /** Its column, if that has another name than the property. */
  readonly column?: string;
  /** No row that is read has it. */
  readonly internal?: true;
}

/** A column: its type in PostgreSQL, and what supplies it. */
const column =
  <Value>(sqlType: string) =>
  <const From extends Supplier, const Options extends FieldOptions>(
    from: From,
    options: Options,
  ): Options & Column<From, Value> => ({ ...options, from, sqlType });

interface Column<From extends Supplier, Value> {
  readonly from: From;
  readonly sqlType: string;
  /** Only in the type. */
  readonly value?: () => Value;
}

const uuid = column<string>('uuid');
const uuidOrNull = column<string | null>('uuid');
const text = column<string>('text');
const textOrNull = column<string | null>('text');
const int = column<number>('int');
const intOrNull = column<number | null>('int');
const timeOrNull = column<Date | null>('timestamptz');
const textsOrNull = column<readonly string[] | null>('text[]');
/** JSON text. */
const jsonOrNull = column<string | null>('json');

const { Optional } = Type;
const ofText = (description: string) => Type.String({ description });
const optionalText = (description: string) => Optional(ofText(description));
const count = (description: string) => Optional(Type.Integer({ minimum: 0, description }));
const optionalId = (kind: IdKind, description: string) => Optional(id(kind, description));
const optionalTime = (description: string) => Optional(time(description));
const request = { hidden: 'request' } as const;
const cost = { hidden: 'cost' } as const;
const figure = { figure: true } as const;
const sentText = { detail: true, body: true, ...request } as const;
const output = { body: true, transient: true } as const;
/** The contract declares it, where prompts are declared. */
const content = Optional(Type.Unknown());
const sentContent = { type: content, detail: true, ...request } as const;

export const executionFields = {
  executionId: uuid('request', { row: 'id', type: id('execution', 'Identifier.'), csv: 1 }),
  agentId: uuid('terms', { type: id('agent', 'The executed agent.'), csv: 3 }),
  workspaceId: uuid('terms', { internal: true }),
  agentName: text('terms', { type: ofText('Name of the agent at the time of the call.'), csv: 4 }),
  status: column<ExecutionStatus>('execution_status')('outcome', {
    type: oneOf(['processing', ...endStatuses], 'Every status except `processing` is final.'),
    csv: 5,
  }),
  source: column<StoredSource>('execution_source')('terms', {
    type: oneOf(
      sources,
      'Origin of the call: `api` for a key, `dashboard` for a session, `workflow` for a step.',
    ),
    csv: 6,
  }),
  playground: {
    type: Optional(
      Type.Literal(true, { description: 'A playground execution. Absent for any other.' }),
    ),
    csv: 56,
  },
  executedAt: column<Date>('timestamptz')('queue', {
    type: time('Time when the call was accepted or refused.'),
    csv: 2,
  }),
  executedBy: uuidOrNull('terms', {
    type: nullable(
      id('user'),
      'User of the session, or issuer of the key. `null` if no longer known.',
    ),
    ...request,
    csv: 8,
  }),
  apiKeyId: uuidOrNull('terms', {
    type: optionalId(
      'key',
      'API key of the call. Present only if the source is `api`; a workflow run names the key that started it.',
    ),
    csv: 7,
  }),
  workflowRunId: uuidOrNull('request', {
    type: optionalId('workflowRun', 'Present only if the source is `workflow`.'),
    csv: 32,
  }),
  stepName: textOrNull('request', {
    type: optionalText('Workflow step of the execution. Present only if the source is `workflow`.'),
    csv: 33,
  }),
  batchId: uuidOrNull('request', {
    type: optionalId('batch', 'Present only if it is a line of a batch.'),
    csv: 55,
  }),
  user: textOrNull('request', {
    type: optionalText('End user that it was for. Absent if not sent, like the next three.'),
    column: 'end_user',
    ...request,
    csv: 41,
  }),
  session: textOrNull('request', {
    type: optionalText('Session that it belongs to.'),
    ...request,
    csv: 42,
  }),
  tags: textsOrNull('request', {
    type: Optional(Type.Array(Type.String(), { description: 'Tags, each once.' })),
    ...request,
    csv: 43,
  }),
  metadata: jsonOrNull('request', {
    type: Optional(
      Type.Unsafe<Readonly<Record<string, string>>>({
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Metadata by name.',
      }),
    ),
    ...request,
    csv: 44,
  }),
  rerunOf: uuidOrNull('request', {
    type: optionalId(
      'execution',
      'The execution that this one runs again. It may have been deleted.',
    ),
    csv: 54,
  }),
  modelUsed: text('terms', {
    row: 'model',
    type: ofText(
      'Format: `provider/model`. With fallback models the one whose answer was used, or that was called last.',
    ),
    restated: true,
    csv: 9,
  }),
  modelAnswered: textOrNull('outcome', {
    type: optionalText(
      'Name of the model as the provider reports it. It may be more exact than `modelUsed`.',
    ),
    csv: 35,
  }),
  providerRequestId: textOrNull('outcome', {
    type: optionalText(
      "The provider's id of the last request: its header `x-request-id` or `request-id`, else the `id` in the body.",
    ),
    csv: 36,
  }),
  temperature: column<number | null>('float8')('terms', {
    type: Optional(
      Type.Number({ description: 'As set. `settingsNotApplied` says whether the model took it.' }),
    ),
    csv: 12,
  }),
  promptVersionId: uuid('terms', { type: id('version', 'The pinned prompt version.'), csv: 10 }),
  promptVersionLabel: text('terms', { type: ofText('Label of the prompt version.'), csv: 11 }),
  /** In the database with references instead of data URLs, which are in `fileData`. */
  inputVariables: jsonOrNull('input', {
    type: Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        additionalProperties: true,
        description: 'Variables as sent by the caller.',
      }),
    ),
    body: true,
    ...request,
    csv: 25,
  }),
  queuedAt: {
    type: optionalTime('Time when it was queued. Absent for a refused call.'),
    csv: 29,
  },
  startedAt: timeOrNull('queue', {
    type: optionalTime(
      'Time of the first start. Reset if the execution then waited for room at its provider before its first call.',
    ),
    csv: 13,
  }),
  attempts: column<number>('smallint')('outcome', {
    type: Type.Integer({
      minimum: 0,
      description:
        'Number of attempts started. 0 if no model was called: the prompt is too long, or calls to the provider stayed paused.',
    }),
    csv: 16,
  }),
  latencyMs: int('outcome', {
    type: count(
      'Milliseconds from the first start to the end, including waits for retries and for the provider. 0 if nothing started.',
    ),
    ...figure,
    csv: 15,
  }),
  firstTextMs: intOrNull('outcome', {
    type: count(
      'Milliseconds from the first start to the first text of the last attempt, if that was read as a stream.',
    ),
    csv: 53,
  }),
  tokensUsed: {
    type: count('Sum of input and output tokens. 0 if the model was never called.'),
    ...figure,
    csv: 19,
  },
  inputTokens: int('outcome', {
    type: count('Input tokens of all attempts, including cached ones.'),
    ...figure,
    csv: 17,
  }),
  outputTokens: int('outcome', {
    type: count('Output tokens of all attempts.'),
    ...figure,
    csv: 18,
  }),
  reasoningTokens: intOrNull('outcome', {
    type: count('Output tokens spent on reasoning, if the provider reports them.'),
    csv: 37,
  }),
  costUSD: column<string>('numeric')('outcome', {
    row: 'costUsd',
    type: Optional(
      Type.Number({ minimum: 0, description: 'Sum of the known costs of all attempts.' }),
    ),
    ...figure,
    ...cost,
    csv: 20,
  }),
  costKnown: column<boolean>('bool')('outcome', {
    type: Optional(
      Type.Boolean({
        description:
          '`false` if the price or the usage of an attempt is unknown; `costUSD` is then without it.',
      }),
    ),
    ...figure,
    ...cost,
    csv: 21,
  }),
  costSource: column<CostSource | null>('text')('outcome', {
    type: Optional(
      oneOf(
        costSources,
        "Origin of the price of the last priced attempt: the workspace's own, the cost that the provider states (where the workspace has no price), or the built-in table. Absent if no call was charged.",
      ),
    ),
    ...cost,
    csv: 40,
  }),
  completedAt: timeOrNull('clock', {
    type: optionalTime('Time when it ended.'),
    ...figure,
    csv: 14,
  }),
  finishReason: textOrNull('outcome', {
    type: optionalText(
      'Reason why the model stopped: `stop`, `length` (cut off by `maxTokens`), `tool-calls` (then `outputText` is often empty), `content-filter` or `other`.',
    ),
    csv: 22,
  }),
  settingsNotApplied: textsOrNull('outcome', {
    type: Optional(
      Type.Array(Type.String(), {
        description:
          'Settings that the model or provider rejected or ignored, such as `temperature`. Absent if all were applied.',
      }),
    ),
    csv: 34,
  }),
  outputText: textOrNull('outcome', {
    row: 'output',
    type: optionalText('Present only on success.'),
    ...output,
    csv: 28,
  }),
  outputJson: jsonOrNull('outcome', {
    type: Optional(
      Type.Unknown({
        description:
          'The JSON in the output. Present only on success of an agent with a `responseFormat`. Numbers are as the model wrote them.',
      }),
    ),
    ...output,
    csv: 50,
  }),
  toolCalls: jsonOrNull('outcome', { type: content, ...output, csv: 49 }),
  refusalText: textOrNull('outcome', {
    type: optionalText(
      'What the model wrote when it refused, or before a filter stopped it (`CONTENT_FILTERED`).',
    ),
    ...output,
    csv: 39,
  }),
  error: textOrNull('outcome', {
    type: optionalText('Present on every final status except `success`.'),
    csv: 24,
  }),
  errorCode: column<ExecutionErrorCode | null>('text')('outcome', {
    type: Optional(oneOf(executionErrorCodes, 'Present on every final status except `success`.')),
    csv: 23,
  }),
  workflowId: {
    type: optionalId(
      'workflow',
      'Present only if the source is `workflow`, until the workflow run is deleted.',
    ),
    detail: true,
  },
  output: { type: optionalText('Same text as `outputText`.'), detail: true },
  systemPrompt: textOrNull('outcome', {
    type: optionalText(
      'System messages as sent to the model, joined. Absent if canceled before work began.',
    ),
    ...sentText,
    csv: 26,
  }),
  userPrompt: textOrNull('outcome', {
    type: optionalText('Last message of the user as sent to the model.'),
    ...sentText,
    csv: 27,
  }),
  request: jsonOrNull('outcome', { detail: true, body: true }),
  messages: { ...sentContent, csv: 45 },
  tools: { ...sentContent, csv: 46 },
  toolChoice: { ...sentContent, csv: 47 },
  settings: { ...sentContent, csv: 48 },
  files: jsonOrNull('input', { ...sentContent, csv: 52 }),
  fileData: jsonOrNull('input', { detail: true, body: true }),
  reasoningText: textOrNull('outcome', {
    type: optionalText(
      'Reasoning of the model, including `<think>` blocks, as far as the provider returns it.',
    ),
    ...sentText,
    csv: 38,
  }),
  attemptList: column<readonly Attempt[] | null>('jsonb')('outcome', {
    type: Optional(
      Type.Array(attemptType, {
        description: 'The attempts, oldest first. Absent before the first one has ended.',
      }),
    ),
    detail: true,
    ...request,
    csv: 51,
  }),
  lastClaim: intOrNull('outcome', { detail: true }),
  background: column<true | null>('bool')('request', { detail: true }),
  ipAddress: textOrNull('request', {
    type: optionalText('IP address of the caller.'),
    ...sentText,
    csv: 30,
  }),
  userAgent: textOrNull('request', {
    type: optionalText('User agent of the caller: its first 500 characters.'),
    ...sentText,
    csv: 31,
  }),
} as const satisfies Readonly<Record<string, FieldOptions>>;

type Fields = typeof executionFields;
export type FieldName = keyof Fields;

/** The fields with a column. */
type Stored = {
  [Name in FieldName]: Fields[Name] extends { from: Supplier } ? Name : never;
}[FieldName];
type Detail = {
  [Name in FieldName]: Fields[Name] extends { detail: true } ? Name : never;
}[FieldName];
type From<One extends Supplier> = {
  [Name in Stored]: Fields[Name] extends { from: One } ? Name : never;
}[Stored];

type PropertyOf<Name extends Stored> = Fields[Name] extends { row: infer Property extends string }
  ? Property
  : Name;
type ValueOf<Field> = Field extends { value?: () => infer Value } ? Value : never;
type Row<Names extends Stored> = {
  readonly [Name in Names as PropertyOf<Name>]: ValueOf<Fields[Name]>;
};

/** The fields that all executions of one caller and agent share. */
export type ExecutionTerms = Row<From<'terms'>>;
/** What the record says of one call. */
export type RequestColumns = Row<From<'request'>>;
/** What only an accepted call has: its input. */
export type InputColumns = Row<From<'input'>>;
/** What the end adds. */
export type OutcomeColumns = Omit<Row<From<'outcome'> | 'modelUsed'>, 'status'> & {
  readonly status: EndStatus;
};
/** An execution in a list. */
export type ExecutionSummary = Row<Exclude<Stored, Detail | 'workspaceId'>>;
/** The record. */
export type Execution = ExecutionSummary &
  Row<Extract<Detail, Stored>> & {
    /** Null if the workflow run does not exist anymore, and in exports. */
    readonly workflowId?: string | null;
  };

/** A field with a column. */
export type StoredField = FieldOptions & Column<Supplier, unknown> & { readonly row: string };
export const storedFields: readonly StoredField[] = Object.entries(executionFields).flatMap(
  ([row, field]) => ('from' in field ? { row, ...field } : []),
);
