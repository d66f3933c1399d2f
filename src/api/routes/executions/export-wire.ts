import { isPlayground, sourceOf } from '../../../core/execution/execution.ts';
import { csvLine, spreadsheetLine } from '../../../core/history/csv.ts';
import { toId } from '../../../core/id.ts';
import type { ExecutionDetailRow } from '../../../store/execution/executions.ts';
import { toJson } from '../../http/response/json-response.ts';
import {
  attemptListWire,
  executionDetailWire,
  queuedAtOf,
  requestWire,
  startingKeyId,
  suppliedVariables,
} from './execution-wire.ts';

/** The export formats: the header and the line of each record. */

export interface ExportForm {
  readonly mediaType: string;
  readonly head: string;
  line(row: ExecutionDetailRow): string;
}

type Cell = string | number | boolean | null;
/** Parsed once for each record. */
type Sent = ReturnType<typeof requestWire>;

/** The CSV columns. `output` is omitted, because it equals `outputText`. Append new columns: readers use the position. */
const columns: Readonly<Record<string, (row: ExecutionDetailRow, sent: Sent) => Cell>> = {
  executionId: ({ id }) => toId('execution', id),
  executedAt: ({ executedAt }) => executedAt.toISOString(),
  agentId: ({ agentId }) => toId('agent', agentId),
  agentName: (row) => row.agentName,
  status: (row) => row.status,
  source: (row) => sourceOf(row.source),
  apiKeyId: startingKeyId,
  executedBy: ({ executedBy }) => (executedBy === null ? null : toId('user', executedBy)),
  modelUsed: (row) => row.model,
  promptVersionId: ({ promptVersionId }) => toId('version', promptVersionId),
  promptVersionLabel: (row) => row.promptVersionLabel,
  temperature: (row) => row.temperature,
  startedAt: ({ startedAt }) => startedAt?.toISOString() ?? null,
  completedAt: ({ completedAt }) => completedAt?.toISOString() ?? null,
  latencyMs: (row) => row.latencyMs,
  attempts: (row) => row.attempts,
  inputTokens: (row) => row.inputTokens,
  outputTokens: (row) => row.outputTokens,
  tokensUsed: (row) => row.inputTokens + row.outputTokens,
  costUSD: (row) => Number(row.costUsd),
  costKnown: (row) => row.costKnown,
  finishReason: (row) => row.finishReason,
  errorCode: (row) => row.errorCode,
  error: (row) => row.error,
  inputVariables: suppliedVariables,
  systemPrompt: (row) => row.systemPrompt,
  userPrompt: (row) => row.userPrompt,
  outputText: (row) => row.output,
  queuedAt: queuedAtOf,
  ipAddress: (row) => row.ipAddress,
  userAgent: (row) => row.userAgent,
  workflowRunId: ({ workflowRunId }) => workflowRunId && toId('workflowRun', workflowRunId),
  stepName: (row) => row.stepName,
  settingsNotApplied: ({ settingsNotApplied }) =>
    settingsNotApplied && JSON.stringify(settingsNotApplied),
  modelAnswered: (row) => row.modelAnswered,
  providerRequestId: (row) => row.providerRequestId,
  reasoningTokens: (row) => row.reasoningTokens,
  reasoningText: (row) => row.reasoningText,
  refusalText: (row) => row.refusalText,
  costSource: (row) => row.costSource,
  user: (row) => row.user,
  session: (row) => row.session,
  tags: ({ tags }) => tags && JSON.stringify(tags),
  metadata: (row) => row.metadata,
  messages: (_, { messages }) => cell(messages),
  tools: (_, { tools }) => cell(tools),
  toolChoice: (_, { toolChoice }) => cell(toolChoice),
  settings: (_, { settings }) => cell(settings),
  toolCalls: (row) => row.toolCalls,
  outputJson: (row) => row.outputJson,
  attemptList: (row) => cell(attemptListWire(row).attemptList),
  files: (row) => row.files,
  firstTextMs: (row) => row.firstTextMs,
  rerunOf: ({ rerunOf }) => rerunOf && toId('execution', rerunOf),
  batchId: ({ batchId }) => batchId && toId('batch', batchId),
  playground: (row) => isPlayground(row.source) || null,
};

/** Texts as they are, other values as JSON. */
function cell(value: unknown): Cell {
  if (value === undefined) return null;
  return typeof value === 'string' ? value : toJson(value);
}

/** Names without special characters, so they need no quotes. */
const csvHead = `${Object.keys(columns).join(',')}\r\n`;
const csvMediaType = 'text/csv; charset=utf-8; header=present';

function cellsOf(row: ExecutionDetailRow): Cell[] {
  const sent = requestWire(row);
  return Object.values(columns).map((cellOf) => cellOf(row, sent));
}

export const exportForms: Readonly<Record<'jsonl' | 'csv' | 'spreadsheet', ExportForm>> = {
  jsonl: {
    mediaType: 'application/jsonl; charset=utf-8',
    head: '',
    line: (row) => `${toJson(executionDetailWire(row))}\n`,
  },
  csv: {
    mediaType: csvMediaType,
    head: csvHead,
    line: (row) => csvLine(cellsOf(row)),
  },
  // Without the mark, spreadsheets read UTF-8 as the local code page.
  spreadsheet: {
    mediaType: csvMediaType,
    head: `\uFEFF${csvHead}`,
    line: (row) => spreadsheetLine(cellsOf(row)),
  },
};
