import { type TSchema, Type } from 'typebox';
import type { Prompt } from '../agent/prompt.ts';
import { restoreFiles } from '../agent/stored-files.ts';
import { idKind } from '../field-types.ts';
import { type IdKind, toId } from '../id.ts';
import type { Attempt } from './attempt.ts';
import { isPlayground, sourceOf } from './execution.ts';
import {
  type ComputedField,
  type Execution,
  type ExecutionSummary,
  executionFields,
  type FieldName,
  type FieldOptions,
  type StoredField,
} from './execution-fields.ts';

/** What a response or an export shows of an execution: the values of its fields. */

/** A record, perhaps of a list: then without what only the full record has. */
type ShownRow = ExecutionSummary & Partial<Execution>;

/** A value as JSON has it; null or undefined without one. JSON text stays text. */
type Read = (row: ShownRow, sent: Sent) => unknown;

export interface ShownField {
  readonly name: string;
  readonly type: TSchema;
  readonly csv: number | undefined;
  readonly detail: true | undefined;
  readonly figure: true | undefined;
  readonly hidden: FieldOptions['hidden'];
  readonly isOptional: boolean;
  /** Whether the value is JSON text. */
  readonly isJson: boolean;
  readonly read: Read;
}

/** The key that started the execution. The key of a workflow step is a field of its workflow run. */
const startingKeyId: Read = ({ source, apiKeyId }) =>
  sourceOf(source) === 'api' && apiKeyId !== null ? toId('key', apiKeyId) : null;

/** Refused executions are never queued. */
const queuedAt: Read = ({ status, executedAt }) =>
  status === 'rate_limited' || status === 'unauthorized' ? null : executedAt.toISOString();

/** As the caller supplied them, with the data of files. */
const suppliedVariables: Read = ({ inputVariables, fileData = null }) =>
  inputVariables && restoreFiles(inputVariables, fileData);

/** A single attempt is described by the figures of the record. */
const attemptList: Read = (row) => {
  const { attemptList = null, status, attempts, costUsd } = row;
  if (attemptList !== null) return attemptList.map(shownAttempt);
  if (status === 'processing') return null;
  return attempts === 1 ? [shownAttempt({ ...row, costUSD: Number(costUsd) })] : [];
};

function shownAttempt(attempt: Attempt) {
  const { model, errorCode, inputTokens, outputTokens, costUSD, costKnown, latencyMs } = attempt;
  return {
    model,
    ...(errorCode !== null && { errorCode }),
    ...{ inputTokens, outputTokens, costUSD, costKnown },
    ...(latencyMs !== null && { latencyMs }),
  };
}

/** What was sent to the model. */
export type Sent = Partial<Pick<Prompt, 'messages' | 'tools' | 'toolChoice' | 'settings'>>;

/** The messages of the short form are its two prompts. */
export function sentOf({ request, systemPrompt, userPrompt }: Execution): Sent {
  const short = [
    ...(systemPrompt ? [{ role: 'system', content: systemPrompt } as const] : []),
    ...(userPrompt ? [{ role: 'user', content: userPrompt } as const] : []),
  ];
  const sent: Sent = request === null ? {} : JSON.parse(request);
  return { ...(short.length > 0 && { messages: short }), ...sent };
}

/** What is computed, or shown otherwise than stored. */
const computed: Readonly<Record<ComputedField, Read> & Partial<Record<FieldName, Read>>> = {
  source: ({ source }) => sourceOf(source),
  playground: ({ source }) => isPlayground(source) || null,
  apiKeyId: startingKeyId,
  inputVariables: suppliedVariables,
  queuedAt,
  tokensUsed: ({ inputTokens, outputTokens }) => inputTokens + outputTokens,
  outputPreview: ({ outputPreview }) => outputPreview?.trim().split('\n', 1)[0]?.trim() || null,
  price: ({ price }) => price && { ...price, validFrom: new Date(price.validFrom).toISOString() },
  workflowId: ({ workflowId }) => workflowId && toId('workflow', workflowId),
  output: ({ output }) => output,
  messages: (_, { messages }) => messages,
  tools: (_, { tools }) => tools,
  toolChoice: (_, { toolChoice }) => toolChoice,
  settings: (_, { settings }) => settings,
  attemptList,
};

/** Reads a column as JSON has it. */
function readColumn(name: string, field: FieldOptions): Read {
  const { row: property = name, type, sqlType } = field as StoredField;
  const columnOf = (row: ShownRow) => (row as unknown as Record<string, unknown>)[property];
  const kind = (type as { readonly [idKind]?: IdKind } | undefined)?.[idKind];
  if (kind) {
    return (row) => {
      const id = columnOf(row);
      return typeof id === 'string' ? toId(kind, id) : null;
    };
  }
  if (sqlType === 'timestamptz') return (row) => (columnOf(row) as Date | null)?.toISOString();
  if (sqlType === 'numeric') {
    return (row) => {
      const amount = columnOf(row);
      return amount === null ? null : Number(amount);
    };
  }
  return columnOf;
}

const fields: Readonly<Record<string, FieldOptions>> = executionFields;

/** In the order of JSON. */
export const shownFields: readonly ShownField[] = Object.entries(fields).flatMap(
  ([name, field]) => {
    const { type, csv, detail, figure, hidden } = field;
    if (!type) return [];
    const isOptional = Type.IsOptional(type);
    const isJson = (field as Partial<StoredField>).sqlType === 'json';
    const read = computed[name as FieldName] ?? readColumn(name, field);
    // All fields in one shape: reading them is then faster by half.
    return { name, type, csv, detail, figure, hidden, isOptional, isJson, read };
  },
);
