import type { Prompt } from '../../../core/agent/prompt.ts';
import { restoreFiles } from '../../../core/agent/stored-files.ts';
import type { Attempt } from '../../../core/execution/attempt.ts';
import { isPlayground, sourceOf } from '../../../core/execution/execution.ts';
import { type Labels, labelFields } from '../../../core/execution/labels.ts';
import { toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { ExecutionDetailRow, ExecutionRow } from '../../../store/execution/executions.ts';
import { visibleError } from '../../access/visible-resources.ts';
import { RawJson } from '../../http/response/json-response.ts';

/** An execution in API format. Fields without a value are absent. */
export function executionWire(row: ExecutionRow): Record<string, unknown> {
  const ended = row.status !== 'processing';
  const apiKeyId = startingKeyId(row);
  const queuedAt = queuedAtOf(row);
  return {
    executionId: toId('execution', row.id),
    agentId: toId('agent', row.agentId),
    agentName: row.agentName,
    status: row.status,
    source: sourceOf(row.source),
    ...(isPlayground(row.source) && { playground: true }),
    executedAt: row.executedAt.toISOString(),
    executedBy: row.executedBy === null ? null : toId('user', row.executedBy),
    ...(apiKeyId !== null && { apiKeyId }),
    ...(row.workflowRunId !== null && { workflowRunId: toId('workflowRun', row.workflowRunId) }),
    ...(row.stepName !== null && { stepName: row.stepName }),
    ...(row.batchId !== null && { batchId: toId('batch', row.batchId) }),
    ...labelsWire(row),
    ...(row.rerunOf !== null && { rerunOf: toId('execution', row.rerunOf) }),
    modelUsed: row.model,
    ...(row.modelAnswered !== null && { modelAnswered: row.modelAnswered }),
    ...(row.providerRequestId !== null && { providerRequestId: row.providerRequestId }),
    ...(row.temperature !== null && { temperature: row.temperature }),
    promptVersionId: toId('version', row.promptVersionId),
    promptVersionLabel: row.promptVersionLabel,
    ...(row.inputVariables !== null && { inputVariables: new RawJson(row.inputVariables) }),
    ...(queuedAt !== null && { queuedAt }),
    ...(row.startedAt !== null && { startedAt: row.startedAt.toISOString() }),
    attempts: row.attempts,
    ...(ended && figures(row)),
    ...(row.finishReason !== null && { finishReason: row.finishReason }),
    ...(row.settingsNotApplied !== null && { settingsNotApplied: row.settingsNotApplied }),
    ...(row.output !== null && { outputText: row.output }),
    ...(row.outputJson !== null && { outputJson: new RawJson(row.outputJson) }),
    ...(row.toolCalls !== null && { toolCalls: new RawJson(row.toolCalls) }),
    ...(row.refusalText !== null && { refusalText: row.refusalText }),
    ...(row.errorCode !== null && { error: row.error, errorCode: row.errorCode }),
  };
}

/** Who it was for. */
export function labelsWire({ user, session, tags, metadata }: Labels) {
  return {
    ...(user !== null && { user }),
    ...(session !== null && { session }),
    ...(tags !== null && { tags }),
    ...(metadata !== null && { metadata: new RawJson(metadata) }),
  };
}

/** The key that started the execution. The key of a workflow step is a field of its workflow run. */
export function startingKeyId({ source, apiKeyId }: ExecutionRow): string | null {
  return sourceOf(source) === 'api' && apiKeyId !== null ? toId('key', apiKeyId) : null;
}

/** The time of queueing; null for refused executions, which are never queued. */
export function queuedAtOf({ status, executedAt }: ExecutionRow): string | null {
  return status === 'rate_limited' || status === 'unauthorized' ? null : executedAt.toISOString();
}

/** The full record, with prompts, caller address and user agent. */
export function executionDetailWire(row: ExecutionDetailRow): Record<string, unknown> {
  return {
    ...executionWire({ ...row, inputVariables: suppliedVariables(row) }),
    ...(row.workflowId && { workflowId: toId('workflow', row.workflowId) }),
    ...(row.output !== null && { output: row.output }),
    ...(row.systemPrompt !== null && { systemPrompt: row.systemPrompt }),
    ...(row.userPrompt !== null && { userPrompt: row.userPrompt }),
    ...requestWire(row),
    ...(row.files !== null && { files: new RawJson(row.files) }),
    ...(row.reasoningText !== null && { reasoningText: row.reasoningText }),
    ...attemptListWire(row),
    ...(row.ipAddress !== null && { ipAddress: row.ipAddress }),
    ...(row.userAgent !== null && { userAgent: row.userAgent }),
  };
}

/** As the caller supplied them, with the data of files. */
export function suppliedVariables({ inputVariables, fileData }: ExecutionDetailRow): string | null {
  return inputVariables && restoreFiles(inputVariables, fileData);
}

/** A single attempt is described by the figures of the record. */
export function attemptListWire(row: ExecutionDetailRow): { attemptList?: unknown[] } {
  const { attemptList, status, attempts, costUsd } = row;
  if (attemptList !== null) return { attemptList: attemptList.map(attemptWire) };
  if (status === 'processing') return {};
  return { attemptList: attempts === 1 ? [attemptWire({ ...row, costUSD: Number(costUsd) })] : [] };
}

function attemptWire(attempt: Attempt) {
  const { model, errorCode, inputTokens, outputTokens, costUSD, costKnown, latencyMs } = attempt;
  return {
    model,
    ...(errorCode !== null && { errorCode }),
    ...{ inputTokens, outputTokens, costUSD, costKnown },
    ...(latencyMs !== null && { latencyMs }),
  };
}

/**
 * The record as far as the caller may see it. A key without `read` may be in a web page: it sees what came out, not what went
 * in or who executed it; nor the cost, if the key is meant for browsers.
 */
export function visibleExecutionWire(
  caller: Caller,
  row: ExecutionDetailRow,
): Record<string, unknown> {
  if (caller.rights.includes('read')) return executionDetailWire(row);
  const wire = executionDetailWire({ ...row, error: visibleError(caller, row.error) });
  const hidden =
    caller.allowedOrigins.length > 0 ? [...requestFields, ...costFields] : requestFields;
  for (const name of hidden) delete wire[name];
  return wire;
}

/** The same, once for all readers of a row with the same rights: many readers of a stream hold its end at once. */
export function sharedExecutionWire(
  caller: Caller,
  row: ExecutionDetailRow,
): Record<string, unknown> {
  const view = caller.rights.includes('read')
    ? 'all'
    : caller.allowedOrigins.length > 0
      ? 'page'
      : 'own';
  const wires = sharedWires.get(row) ?? {};
  sharedWires.set(row, wires);
  wires[view] ??= visibleExecutionWire(caller, row);
  return wires[view];
}

const sharedWires = new WeakMap<
  ExecutionDetailRow,
  Partial<Record<string, Record<string, unknown>>>
>();

const requestFields = [
  'inputVariables',
  'files',
  'systemPrompt',
  'userPrompt',
  'messages',
  'tools',
  'toolChoice',
  'settings',
  'reasoningText',
  'attemptList',
  'ipAddress',
  'userAgent',
  'executedBy',
  ...labelFields,
];
const costFields = ['costUSD', 'costKnown', 'costSource'];

/** What was sent. The messages of the short form are its two prompts. */
export function requestWire({ request, systemPrompt, userPrompt }: ExecutionDetailRow) {
  const sent: Partial<Pick<Prompt, 'messages' | 'tools' | 'toolChoice' | 'settings'>> =
    request === null ? {} : JSON.parse(request);
  const short = [
    ...(systemPrompt ? [{ role: 'system', content: systemPrompt }] : []),
    ...(userPrompt ? [{ role: 'user', content: userPrompt }] : []),
  ];
  return { ...(short.length > 0 && { messages: short }), ...sent };
}

function figures(row: ExecutionRow) {
  return {
    latencyMs: row.latencyMs,
    ...(row.firstTextMs !== null && { firstTextMs: row.firstTextMs }),
    tokensUsed: row.inputTokens + row.outputTokens,
    inputTokens: row.inputTokens,
    outputTokens: row.outputTokens,
    ...(row.reasoningTokens !== null && { reasoningTokens: row.reasoningTokens }),
    costUSD: Number(row.costUsd),
    costKnown: row.costKnown,
    ...(row.costSource !== null && { costSource: row.costSource }),
    ...(row.completedAt !== null && { completedAt: row.completedAt.toISOString() }),
  };
}
