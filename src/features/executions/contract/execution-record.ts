import { type Static, type TSchema, Type } from 'typebox';
import { endStatuses } from '../../../core/execution/execution.ts';
import type { executionFields } from '../../../core/execution/execution-fields.ts';
import { type ShownField, shownFields } from '../../../core/execution/shown-fields.ts';
import { id, nullable, oneOf, Pagination, reference } from '../../../http/contract/shared.ts';
import { costLimit } from '../../prompts/contract/cost-limit-contract.ts';
import {
  SentFiles,
  SentMessages,
  sentFields,
  ToolCalls,
} from '../../prompts/contract/prompt-content.ts';
import { DraftVersionInput } from '../../prompts/contract/prompts-contract.ts';
import { labels } from './labels-contract.ts';

export const ExecuteRequest = Type.Object(
  {
    variables: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description:
        'Values by variable name, any JSON. Strings are inserted unchanged, other values as JSON. `null` counts as not supplied. Must contain every required variable.',
      examples: [{ topic: 'tides', audience: 'sailors' }],
    }),
    ...labels,
    rerunOf: Type.Optional(
      reference(
        'execution',
        'The execution of this agent that this one runs again, for its record.',
      ),
    ),
    stream: Type.Optional(
      Type.Boolean({
        description:
          "Whether the response of the model is read as a stream, so that readers see its text as it arrives. Default: the agent's `stream`; `true` with `Accept: text/event-stream`.",
      }),
    ),
    playground: Type.Optional(
      Type.Boolean({
        description:
          'Marks a playground execution: lists and statistics leave the execution out unless they are asked for it. Limits, quota and usage count it. Only with it, and with the permission `manage`, may there be a `draft`: fields of a version that is executed instead of the pinned one. Its record names an unnumbered version with the label `draft`, which no list shows and no agent can pin, and which is deleted with the record. Placeholders that the agent does not declare are optional.',
      }),
    ),
    draft: Type.Optional(DraftVersionInput),
    maxCostUSD: Type.Optional(
      costLimit(
        "The most that the execution may cost, in US dollars. The lower one of this and the agent's `maxCostUSD` holds. A repeated call with the same `Idempotency-Key` may have another one.",
      ),
    ),
  },
  { title: 'ExecuteRequest', additionalProperties: false },
);

export const ExecuteAccepted = Type.Object(
  {
    success: Type.Literal(true),
    executionId: id('execution', 'Identifier to poll with.'),
    agentId: id('agent', 'The agent.'),
    agentName: Type.String({ description: 'Display name of the agent.' }),
    status: Type.Literal('processing', {
      description: 'The status at acceptance, even in a replay.',
    }),
    currentStatus: Type.Optional(
      nullable(
        oneOf(['processing', ...endStatuses]),
        'Present only in a replay: the status now. `null` if the record is deleted.',
      ),
    ),
    message: Type.String(),
    statusUrl: Type.String({
      description: 'Relative URL: `/api/v1/agents/{agentId}/executions/{executionId}`.',
    }),
    ignoredVariables: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Variables that the agent does not declare. They are recorded but not used.',
      }),
    ),
  },
  { title: 'ExecuteAccepted' },
);
export type ExecuteAccepted = Static<typeof ExecuteAccepted>;

type Fields = typeof executionFields;
type Shown = {
  [Name in keyof Fields]: Fields[Name] extends { type: TSchema } ? Name : never;
}[keyof Fields];
type Listed = { [Name in Shown]: Fields[Name] extends { detail: true } ? never : Name }[Shown];
type TypesOf<Names extends Shown> = { [Name in Names]: Fields[Name]['type'] };

const typesOf = (fields: readonly ShownField[]) =>
  Object.fromEntries(fields.map(({ name, type }) => [name, type]));
const figures = shownFields.filter(({ figure }) => figure);

const listed = {
  ...(typesOf(shownFields.filter(({ detail }) => !detail)) as TypesOf<Listed>),
  toolCalls: Type.Optional(ToolCalls),
};

const namesOf = (fields: readonly ShownField[]) => fields.map(({ name }) => name);

/** JSON Schema for: figures are absent while `processing`, and these are always present afterwards. */
const endedHas = (required: readonly string[]) => ({
  if: { properties: { status: { const: 'processing' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, not a promise.
  then: { not: { anyOf: namesOf(figures).map((field) => ({ required: [field] })) } },
  else: { required },
});

/** A record without prompts, IP address and user agent. Used in lists. */
export const Execution = Type.Object(listed, {
  title: 'Execution',
  ...endedHas(namesOf(figures)),
});
export type Execution = Static<typeof Execution>;

/** The full record, the same object in every state. A key without `read` sees a part of it. */
export const ExecutionDetail = Type.Object(
  {
    ...(typesOf(shownFields) as TypesOf<Shown>),
    executedBy: Type.Optional(listed.executedBy),
    toolCalls: listed.toolCalls,
    messages: Type.Optional(SentMessages),
    ...sentFields,
    files: Type.Optional(SentFiles),
  },
  { title: 'ExecutionDetail', ...endedHas(namesOf(figures.filter(({ hidden }) => !hidden))) },
);
export type ExecutionDetail = Static<typeof ExecutionDetail>;

const latency = (share: string) =>
  nullable(
    Type.Integer({ minimum: 0 }),
    `Latency that ${share} of the executions stayed below, from a histogram: off by at most a tenth plus half a millisecond. \`null\` if none has started.`,
  );

const ListTotals = Type.Object(
  {
    executions: Type.Integer({
      minimum: 0,
      description: 'The matches, as `pagination.total`: with `totalIsLowerBound` a lower bound.',
    }),
    costUSD: Type.Number({ description: 'The sum of the known costs.' }),
    costKnown: Type.Boolean({ description: 'Whether all costs that were added up are known.' }),
    tokensUsed: Type.Integer({ minimum: 0 }),
    p50Ms: latency('half'),
    p95Ms: latency('95 %'),
    percentilesAreApproximate: Type.Literal(true),
    summedOver: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'Cost, tokens and latencies are those of so many executions only: lower bounds. Absent if they are those of all.',
      }),
    ),
  },
  { title: 'ListTotals' },
);

export const ExecutionList = Type.Object(
  {
    executions: Type.Array(Execution),
    pagination: Pagination,
    totalIsLowerBound: Type.Optional(
      Type.Literal(true, {
        description: '`total` is a lower bound, because counting everything would take too long.',
      }),
    ),
    nextCursor: Type.Optional(
      Type.String({ description: 'Value for `cursor`. Absent on the last page.' }),
    ),
    sortedOver: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Only the newest so many matches were sorted. Absent if it is all of them.',
      }),
    ),
    totals: Type.Optional(ListTotals),
    searchedTo: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'The page was not full after five seconds: older executions have not been searched. Continue with `nextCursor`.',
      }),
    ),
  },
  { title: 'ExecutionList' },
);
