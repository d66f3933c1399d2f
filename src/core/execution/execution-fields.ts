import { type TSchema, Type } from 'typebox';
import { type ExecutionErrorCode, executionErrorCodes } from '../failure.ts';
import { id, nullable, oneOf, time } from '../field-types.ts';
import type { IdKind } from '../id.ts';
import { type CostSource, costSources } from '../model/model-port.ts';
import type { ChargedPrice } from '../model/price.ts';
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

interface Column<From extends Supplier, Value> {
  readonly from: From;
  /** Its type in PostgreSQL. */
  readonly sqlType: string;
  /** Only in the type. */
  readonly value?: () => Value;
}

/**
 * A kind of column: its type in rows, in PostgreSQL, and in JSON. A field says what supplies it, the position of its column in CSV,
 * and its description.
 */
const kind =
  <Value>() =>
  <Shown extends TSchema>(sqlType: string, typeOf: (description: string) => Shown) =>
  <const From extends Supplier, const Options extends FieldOptions = Record<never, never>>(
    from: From,
    csv: number,
    description: string,
    options?: Options,
  ) => {
    const field = { ...options, from, csv, type: typeOf(description), sqlType };
    return field as Options & Column<From, Value> & { readonly csv: number; readonly type: Shown };
  };

/** A column that is not shown. */
const internal =
  <Value>() =>
  <const From extends Supplier, const Options extends FieldOptions>(
    sqlType: string,
    from: From,
    options: Options,
  ): Options & Column<From, Value> => ({ ...options, from, sqlType });

const { Optional } = Type;
const ofText = (description: string) => Type.String({ description });
const ofCount = (description: string) => Optional(Type.Integer({ minimum: 0, description }));
const uuid = (of: IdKind) => kind<string>()('uuid', (text) => id(of, text));
const uuidOrNull = (of: IdKind) => kind<string | null>()('uuid', (text) => Optional(id(of, text)));
const text = kind<string>()('text', ofText);
const textOrNull = kind<string | null>()('text', (text) => Optional(ofText(text)));
const count = kind<number>()('int', ofCount);
const countOrNull = kind<number | null>()('int', ofCount);
/** US dollars as decimal text. */
const amountOrNull = kind<string | null>()('numeric', (description) =>
  Optional(Type.Number({ minimum: 0, description })),
);
const timeOrNull = kind<Date | null>()('timestamptz', (text) => Optional(time(text)));
const textsOrNull = kind<readonly string[] | null>()('text[]', (description) =>
  Optional(Type.Array(Type.String(), { description })),
);
/** JSON text. */
const jsonOrNull = <Shown extends TSchema>(typeOf: (description: string) => Shown) =>
  kind<string | null>()('json', typeOf);
const objectOf = <Value>(additionalProperties: object | true) =>
  jsonOrNull((description) =>
    Optional(
      Type.Unsafe<Readonly<Record<string, Value>>>({
        ...{ type: 'object', additionalProperties, description },
      }),
    ),
  );
/** The contract declares it, where it declares prompts. */
const content = Optional(Type.Unknown());
const contentOrNull = jsonOrNull(() => content);

const request = { hidden: 'request' } as const;
const cost = { hidden: 'cost' } as const;
const figure = { figure: true } as const;
const sent = { detail: true, ...request } as const;
const sentBody = { ...sent, body: true } as const;
const output = { body: true, transient: true } as const;

export const executionFields = {
  executionId: uuid('execution')('request', 1, 'Identifier.', { row: 'id' }),
  agentId: uuid('agent')('terms', 3, 'The executed agent.'),
  workspaceId: internal<string>()('uuid', 'terms', { internal: true }),
  agentName: text('terms', 4, 'Name of the agent at the time of the call.'),
  status: kind<ExecutionStatus>()('execution_status', (description) =>
    oneOf(['processing', ...endStatuses], description),
  )('outcome', 5, 'Every status except `processing` is final.'),
  source: kind<StoredSource>()('execution_source', (description) => oneOf(sources, description))(
    'terms',
    6,
    'Origin of the call: `api` for a key, `dashboard` for a session, `workflow` for a step.',
  ),
  playground: {
    type: Optional(
      Type.Literal(true, { description: 'A playground execution. Absent for any other.' }),
    ),
    csv: 56,
  },
  executedAt: kind<Date>()('timestamptz', time)(
    'queue',
    2,
    'Time when the call was accepted or refused.',
  ),
  executedBy: kind<string | null>()('uuid', (description) => nullable(id('user'), description))(
    'terms',
    8,
    'User of the session, or issuer of the key. `null` if no longer known.',
    request,
  ),
  apiKeyId: uuidOrNull('key')(
    'terms',
    7,
    'API key of the call. Present only if the source is `api`; a workflow run names the key that started it.',
  ),
  workflowRunId: uuidOrNull('workflowRun')(
    'request',
    32,
    'Present only if the source is `workflow`.',
  ),
  stepName: textOrNull(
    'request',
    33,
    'Workflow step of the execution. Present only if the source is `workflow`.',
  ),
  batchId: uuidOrNull('batch')('request', 55, 'Present only if it is a line of a batch.'),
  user: textOrNull(
    'request',
    41,
    'End user that it was for. Absent if not sent, like the next three.',
    { ...request, column: 'end_user' },
  ),
  session: textOrNull('request', 42, 'Session that it belongs to.', request),
  tags: textsOrNull('request', 43, 'Tags, each once.', request),
  metadata: objectOf<string>({ type: 'string' })('request', 44, 'Metadata by name.', request),
  rerunOf: uuidOrNull('execution')(
    'request',
    54,
    'The execution that this one runs again. It may have been deleted.',
  ),
  modelUsed: text(
    'terms',
    9,
    'Format: `provider/model`. With fallback models the one whose answer was used, or that was called last.',
    { row: 'model', restated: true },
  ),
  modelAnswered: textOrNull(
    'outcome',
    35,
    'Name of the model as the provider reports it. It may be more exact than `modelUsed`.',
  ),
  providerRequestId: textOrNull(
    'outcome',
    36,
    "The provider's id of the last request: its header `x-request-id` or `request-id`, else the `id` in the body.",
  ),
  temperature: kind<number | null>()('float8', (description) =>
    Optional(Type.Number({ description })),
  )('terms', 12, 'As set. `settingsNotApplied` says whether the model took it.'),
  promptVersionId: uuid('version')('terms', 10, 'The pinned prompt version.'),
  promptVersionLabel: text('terms', 11, 'Label of the prompt version.'),
  /** In the database with references instead of data URLs, which are in `fileData`. */
  inputVariables: objectOf<unknown>(true)('input', 25, 'Variables as sent by the caller.', {
    ...{ body: true, ...request },
  }),
  queuedAt: {
    type: Optional(time('Time when it was queued. Absent for a refused call.')),
    csv: 29,
  },
  startedAt: timeOrNull(
    'queue',
    13,
    'Time of the first start. Reset if the execution then waited for room at its provider before its first call.',
  ),
  attempts: kind<number>()('smallint', (description) => Type.Integer({ minimum: 0, description }))(
    'outcome',
    16,
    'Number of attempts started. 0 if no model was called: the prompt is too long, or calls to the provider stayed paused.',
  ),
  latencyMs: count(
    'outcome',
    15,
    'Milliseconds from the first start to the end, including waits for retries and for the provider. 0 if nothing started.',
    figure,
  ),
  firstTextMs: countOrNull(
    'outcome',
    53,
    'Milliseconds from the first start to the first text of the last attempt, if that was read as a stream.',
  ),
  turns: countOrNull('outcome', 63, 'Turns of the model, if its version executes tools.'),
  toolCallsMade: countOrNull(
    'outcome',
    64,
    'Calls of tools that were sent or were about to be, if its version executes tools.',
  ),
  tokensUsed: {
    type: ofCount('Sum of input and output tokens. 0 if the model was never called.'),
    ...{ ...figure, csv: 19 },
  },
  inputTokens: count('outcome', 17, 'Input tokens of all attempts, including cached ones.', figure),
  outputTokens: count('outcome', 18, 'Output tokens of all attempts.', figure),
  reasoningTokens: countOrNull(
    'outcome',
    37,
    'Output tokens spent on reasoning, if the provider reports them.',
  ),
  costUSD: kind<string>()('numeric', (description) =>
    Optional(Type.Number({ minimum: 0, description })),
  )('outcome', 20, 'Sum of the known costs of all attempts.', {
    ...{ row: 'costUsd', ...figure, ...cost },
  }),
  costKnown: kind<boolean>()('bool', (description) => Optional(Type.Boolean({ description })))(
    'outcome',
    21,
    '`false` if the price or the usage of an attempt is unknown; `costUSD` is then without it.',
    { ...figure, ...cost },
  ),
  costSource: kind<CostSource | null>()('text', (description) =>
    Optional(oneOf(costSources, description)),
  )(
    'outcome',
    40,
    "Origin of the price of the last priced attempt: the workspace's own, the cost that the provider states (where the workspace has no price), or the built-in table. Absent if no call was charged.",
    cost,
  ),
  price: {
    type: Optional(
      Type.Object(
        {
          inputPerMillion: Type.String(),
          outputPerMillion: Type.String(),
          cacheReadPerMillion: nullable(Type.String()),
          cacheWritePerMillion: nullable(Type.String()),
          validFrom: time('Since when it had these amounts.'),
        },
        {
          title: 'ChargedPrice',
          description:
            "The workspace's price that its last priced attempt was charged with, whatever it is now. Present if `costSource` is `workspace`, except in older records.",
        },
      ),
    ),
    ...{ detail: true, ...cost },
  },
  priceId: internal<number | null>()('int', 'outcome', { detail: true }),
  reservedUSD: amountOrNull(
    'outcome',
    61,
    'The bounds of its calls: what budgets, or the limit of its workflow run, reserved for them. Absent if none concerned it.',
    { row: 'reservedUsd', ...cost },
  ),
  overrunUSD: amountOrNull(
    'outcome',
    62,
    'What its provider charged beyond these bounds, which its budgets hold too. Present with `reservedUSD`.',
    { row: 'overrunUsd', ...cost },
  ),
  completedAt: timeOrNull('clock', 14, 'Time when it ended.', figure),
  finishReason: textOrNull(
    'outcome',
    22,
    'Reason why the model stopped: `stop`, `length` (cut off by `maxTokens`), `tool-calls` (then `outputText` is often empty), `content-filter` or `other`.',
  ),
  providerFinishReason: textOrNull(
    'outcome',
    57,
    "The provider's own word for it, such as `end_turn`, `MAX_TOKENS` or `eos`, also of a failed answer.",
  ),
  settingsNotApplied: textsOrNull(
    'outcome',
    34,
    'Settings that the model or provider rejected or ignored, such as `temperature`. Absent if all were applied.',
  ),
  settingsApplied: jsonOrNull((description) =>
    Optional(
      Type.Object(
        { maxTokens: Type.Integer({ minimum: 1 }) },
        { additionalProperties: false, description },
      ),
    ),
  )(
    'input',
    60,
    'What it was sent with although its agent does not set it: under a limit of cost, `maxTokens`. Absent if nothing.',
  ),
  outputText: textOrNull('outcome', 28, 'Present only on success.', { ...output, row: 'output' }),
  outputPreview: {
    type: Optional(
      ofText(
        'The first line of the output, of at most 200 characters. Only in lists with `omit=bodies` and `preview=true`.',
      ),
    ),
  },
  outputJson: jsonOrNull((description) => Optional(Type.Unknown({ description })))(
    'outcome',
    50,
    'The JSON in the output. Present only on success of an agent with a `responseFormat`. Numbers are as the model wrote them.',
    output,
  ),
  toolCalls: contentOrNull('outcome', 49, '', output),
  refusalText: textOrNull(
    'outcome',
    39,
    'What the model wrote when it refused, or before a filter stopped it (`CONTENT_FILTERED`).',
    output,
  ),
  partialText: textOrNull(
    'outcome',
    58,
    'What had arrived of the answer when the execution was canceled, if it was read as a stream.',
    { body: true },
  ),
  error: textOrNull('outcome', 24, 'Present on every final status except `success`.'),
  errorCode: kind<ExecutionErrorCode | null>()('text', (description) =>
    Optional(oneOf(executionErrorCodes, description)),
  )('outcome', 23, 'Present on every final status except `success`.'),
  workflowId: {
    type: Optional(
      id(
        'workflow',
        'Present only if the source is `workflow`, until the workflow run is deleted.',
      ),
    ),
    detail: true,
  },
  output: { type: Optional(ofText('Same text as `outputText`.')), detail: true },
  systemPrompt: textOrNull(
    'outcome',
    26,
    'System messages as sent to the model, joined. Absent if canceled before work began.',
    sentBody,
  ),
  userPrompt: textOrNull('outcome', 27, 'Last message of the user as sent to the model.', sentBody),
  request: internal<string | null>()('json', 'outcome', { detail: true, body: true }),
  messages: { type: content, ...sent, csv: 45 },
  tools: { type: content, ...sent, csv: 46 },
  toolChoice: { type: content, ...sent, csv: 47 },
  settings: { type: content, ...sent, csv: 48 },
  files: contentOrNull('input', 52, '', sent),
  warnings: jsonOrNull((description) => Optional(Type.Array(Type.String(), { description })))(
    'input',
    59,
    "What the call's own response schema does not check, such as a pattern that RE2 cannot read. Absent if it checks everything.",
    sentBody,
  ),
  fileData: internal<string | null>()('json', 'input', { detail: true, body: true }),
  reasoningText: textOrNull(
    'outcome',
    38,
    'Reasoning of the model, including `<think>` blocks, as far as the provider returns it.',
    sentBody,
  ),
  /** A `ProviderMessage`, for the next turn. */
  assistantMessage: internal<string | null>()('json', 'outcome', { detail: true, body: true }),
  attemptList: kind<readonly Attempt[] | null>()('jsonb', (description) =>
    Optional(Type.Array(attemptType, { description })),
  )('outcome', 51, 'The attempts, oldest first. Absent before the first one has ended.', sent),
  lastClaim: internal<number | null>()('int', 'outcome', { detail: true }),
  background: internal<true | null>()('bool', 'request', { detail: true }),
  ipAddress: textOrNull('request', 30, 'IP address of the caller.', sentBody),
  userAgent: textOrNull(
    'request',
    31,
    'User agent of the caller: its first 500 characters.',
    sentBody,
  ),
} as const satisfies Readonly<Record<string, FieldOptions>>;

type Fields = typeof executionFields;
export type FieldName = keyof Fields;

/** The fields with a column. */
type Stored = {
  [Name in FieldName]: Fields[Name] extends { from: Supplier } ? Name : never;
}[FieldName];
/** The fields whose values are computed. */
export type ComputedField = Exclude<FieldName, Stored>;
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
export type ExecutionSummary = Row<Exclude<Stored, Detail | 'workspaceId'>> & {
  /** The beginning of the output, where a list shows it without bodies. */
  readonly outputPreview?: string | null;
};
/** The record. */
export type Execution = ExecutionSummary &
  Row<Extract<Detail, Stored>> & {
    /** Null if the workflow run does not exist anymore, and in exports. */
    readonly workflowId?: string | null;
    /** Likewise. */
    readonly price?: ChargedPrice | null;
  };

/** A field with a column. */
export type StoredField = FieldOptions & Column<Supplier, unknown> & { readonly row: string };
export const storedFields: readonly StoredField[] = Object.entries(executionFields).flatMap(
  ([row, field]) => ('from' in field ? { row, ...field } : []),
);
